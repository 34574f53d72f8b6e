package slot

import (
	"context"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// A State is the state of a slot.
type State uint8

// The states, in the order of a life.
const (
	Waiting State = iota
	Held
	Stream
	Closed
)

// A Source hands out slots of the streams. A share that comes with a slot, such as the route's
// part of all streams, is returned together with the slot; it may be nil.
type Source func(context.Context) (permit weir.Permit, share func(), err error)

// Of returns the slots of a gate as a source.
func Of(streams weir.Admitter) Source {
	return func(ctx context.Context) (weir.Permit, func(), error) {
		permit, err := streams.Acquire(ctx)
		return permit, nil, err
	}
}

// A Slot is the slot of one request. The zero Slot is Waiting. One of Hold, Reserve and Begin is
// called once, by the goroutine that serves the request; the other methods are safe for concurrent
// use.
type Slot struct {
	mu       sync.Mutex
	state    State
	held     grant
	reserved *grant // of the streams, nil for most
	waited   time.Duration
}

// A grant is a permit, and the share that comes with it or nil.
type grant struct {
	permit weir.Permit
	share  func()
}

func (g grant) give(o weir.Outcome) {
	if g.share != nil {
		defer g.share() // also if a hook panics
	}
	g.permit.Finish(o)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.held, s.waited = Held, grant{permit, share}, permit.Waited()
	return nil
}

// Reserve takes a slot of the gate, and one of the streams for the next Exchange, for a request
// that asks to become a stream. The server may not heed that, and then works on it as on any other.
func (s *Slot) Reserve(ctx context.Context, streams Source, gate weir.Admitter) error {
	permit, share, err := streams(ctx)
	if err != nil {
		return err
	}
	reserved, admitted := &grant{permit, share}, false
	defer func() {
		if !admitted {
			reserved.give(weir.Ignore)
		}
	}()
	if err := s.Hold(ctx, gate, nil); err != nil {
		return err
	}
	admitted = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved = reserved
	s.waited += permit.Waited()
	return nil
}

// Forgo returns the slot that is reserved, if any: the request becomes no stream of that kind.
func (s *Slot) Forgo() {
	if reserved := s.takeReserved(); reserved != nil {
		reserved.give(weir.Ignore)
	}
}

func (s *Slot) takeReserved() (g *grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, s.reserved = s.reserved, nil
	return g
}

// Begin takes a slot of the streams. It also asks the gate, so that an overloaded server begins
// no stream, but returns the gate's slot at once: how long a stream lasts says nothing about
// the server.
func (s *Slot) Begin(ctx context.Context, streams Source, gate weir.Admitter) error {
	if err := s.Reserve(ctx, streams, gate); err != nil {
		return err
	}
	begun := false
	defer func() {
		if !begun { // a hook panicked
			s.Close(weir.Ignore)
		}
	}()
	s.leave(Stream, Outcome{Outcome: weir.Ignore})
	begun = true
	if next := s.takeReserved(); next != nil { // nil if the request ended meanwhile
		s.enter(next)
	}
	return nil
}

// Exchange returns the gate's slot with the outcome, and takes the one of the streams that is
// reserved, or another, in its place. It does nothing, and reports false, unless the slot is Held.
// If the streams have no slot, the gate's slot stays returned: the client may read its refusal
// slowly, too.
func (s *Slot) Exchange(ctx context.Context, streams Source, o Outcome) (exchanged bool, err error) {
	if !s.leave(Stream, o) {
		return false, nil
	}
	next := s.takeReserved()
	if next == nil {
		permit, share, err := streams(ctx)
		if err != nil {
			s.Close(weir.Ignore)
			return true, err
		}
		next = &grant{permit, share}
	}
	if s.enter(next) {
		next.permit.Measure(weir.Ignore)
	}
	return true, nil
}

// enter holds the slot of the streams from now on. If the request ended meanwhile, it returns the
// slot and reports false.
func (s *Slot) enter(next *grant) bool {
	s.mu.Lock()
	ended := s.state == Closed
	if !ended {
		s.held = *next
	}
	s.mu.Unlock()
	if ended {
		next.give(weir.Ignore)
	}
	return !ended
}

// Finish returns the gate's slot with the outcome of the work. It does nothing, and reports
// false, unless the slot is Held.
func (s *Slot) Finish(o Outcome) bool {
	defer s.Forgo()
	return s.leave(Closed, o)
}

// An Outcome is the end of the work, for the law. ComeBack is the time that an overloaded server
// named for further work, or 0.
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
	held := s.drop(to)
	s.mu.Unlock()
	if o.Outcome == weir.Overloaded {
		held.permit.Pushback(o.ComeBack)
	}
	held.give(o.Outcome)
	return true
}

// Close returns whatever the request still holds, with the outcome.
func (s *Slot) Close(o weir.Outcome) {
	defer s.Forgo()
	s.mu.Lock()
	held := s.drop(Closed)
	s.mu.Unlock()
	held.give(o)
}

// drop takes the grant out of the slot. The lock is held.
func (s *Slot) drop(to State) (held grant) {
	held = s.held
	s.state, s.held = to, grant{}
	return held
}

// Measure ends the measured latency now, with the outcome. The slot is kept.
func (s *Slot) Measure(o weir.Outcome) {
	s.mu.Lock()
	permit := s.held.permit
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
