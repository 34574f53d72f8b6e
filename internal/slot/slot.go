package slot

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// A State is the state of a slot.
type State uint8

// A slot goes through these states, in this order.
const (
	Waiting State = iota
	Held
	Stream
	Closed
)

// A Source hands out slots of the streams. The function share returns a share that comes with the
// slot, such as the route's part of all streams. It is called when the slot is returned, and is nil
// without a share.
type Source func(context.Context) (permit weir.Permit, share func(), err error)

// Of returns the slots of a gate as a source.
func Of(streams weir.Admitter) Source {
	return func(ctx context.Context) (weir.Permit, func(), error) {
		permit, err := streams.Acquire(ctx)
		return permit, nil, err
	}
}

// Part returns the number of slots of a gate that uploads may hold together: a part of its limit,
// but at least one slot. Uploads have a bound, because their clients decide how long they last. A
// gate in shadow mode refuses no upload.
func Part(gate weir.Snapshot, uploads float64) int {
	if gate.Shadow {
		return math.MaxInt
	}
	return max(1, int(uploads*float64(gate.Limit)))
}

// A Slot is the slot of one request. The zero Slot is Waiting. Hold and Begin are called once,
// by the goroutine that serves the request; the other methods are safe for concurrent use.
type Slot struct {
	mu     sync.Mutex
	state  State
	permit weir.Permit
	share  func()
	waited time.Duration
}

// Hold takes a slot of the gate. The share, such as an upload's part of the limit, is returned
// with the slot, or at once if the gate has no slot; it may be nil.
func (s *Slot) Hold(ctx context.Context, gate weir.Admitter, share func()) error {
	admitted := false
	defer func() {
		if !admitted && share != nil { // or the gate panics
			share()
		}
	}()
	permit, err := gate.Acquire(ctx)
	if err != nil {
		return err
	}
	admitted = true
	s.take(Held, permit, share)
	return nil
}

// Begin takes a slot of the streams. It also asks the gate, so that an overloaded server begins no
// stream, but returns the gate's slot at once: the duration of a stream says nothing about the
// server.
func (s *Slot) Begin(ctx context.Context, streams Source, gate weir.Admitter) error {
	permit, share, err := streams(ctx)
	if err != nil {
		return err
	}
	s.take(Stream, permit, share)
	begun := false
	defer func() {
		if !begun {
			s.Close(weir.Ignore)
		}
	}()
	once, err := gate.Acquire(ctx)
	if err != nil {
		return err
	}
	s.waited += once.Waited()
	once.Release()
	begun = true
	return nil
}

func (s *Slot) take(state State, permit weir.Permit, share func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.permit, s.share = state, permit, share
	s.waited = permit.Waited()
}

// Exchange returns the gate's slot with the outcome, and takes a slot of the streams in its place.
// Exchange does nothing, and reports false, unless the slot is Held. If the streams have no slot,
// the gate's slot stays returned: the client may read its refusal slowly, too.
func (s *Slot) Exchange(ctx context.Context, streams Source, o Outcome) (exchanged bool, err error) {
	if !s.leave(Stream, o) {
		return false, nil
	}
	permit, share, err := streams(ctx)
	if err != nil {
		s.Close(weir.Ignore)
		return true, err
	}
	s.mu.Lock()
	closed := s.state == Closed // the request ended meanwhile
	if !closed {
		s.permit, s.share = permit, share
	}
	s.mu.Unlock()
	if closed {
		give(permit, share, weir.Ignore)
	} else {
		permit.Measure(weir.Ignore)
	}
	return true, nil
}

// Finish returns the gate's slot with the outcome of the work. It does nothing, and reports
// false, unless the slot is Held.
func (s *Slot) Finish(o Outcome) bool { return s.leave(Closed, o) }

// An Outcome is the result of the work, from which the law learns. ComeBack is the time that an
// overloaded server named for further work, or 0.
type Outcome struct {
	weir.Outcome
	ComeBack time.Duration
}

// leave returns the gate's slot if it is held.
func (s *Slot) leave(to State, o Outcome) bool {
	s.mu.Lock()
	if s.state != Held {
		s.mu.Unlock()
		return false
	}
	permit, share := s.drop(to)
	s.mu.Unlock()
	if o.Outcome == weir.Overloaded {
		permit.Pushback(o.ComeBack)
	}
	give(permit, share, o.Outcome)
	return true
}

// Close returns the slot and the share that the request still holds, with the outcome.
func (s *Slot) Close(o weir.Outcome) {
	s.mu.Lock()
	permit, share := s.drop(Closed)
	s.mu.Unlock()
	give(permit, share, o)
}

// drop takes the permit out of the slot. The lock is held.
func (s *Slot) drop(to State) (permit weir.Permit, share func()) {
	permit, share = s.permit, s.share
	s.state, s.permit, s.share = to, weir.Permit{}, nil
	return permit, share
}

func give(permit weir.Permit, share func(), o weir.Outcome) {
	if share != nil {
		defer share() // also if a hook panics
	}
	permit.Finish(o)
}

// Measure ends the measured latency now, with the outcome. The request keeps the slot.
func (s *Slot) Measure(o weir.Outcome) {
	s.mu.Lock()
	permit := s.permit
	s.mu.Unlock()
	permit.Measure(o)
}

// State returns the state.
func (s *Slot) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Waited returns how long the request waited for its slot.
func (s *Slot) Waited() time.Duration { return s.waited }
