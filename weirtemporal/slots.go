package weirtemporal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
)

// lookAgain is the time between two tries of a poller to get a slot. The poller learns at once of
// slots that come back. It does not learn at once of other work that shares the limiter, or of a
// limit that was set by hand. The SDK's ResourceBasedSlotSupplier, which follows the load of the
// machine, tries as often.
const lookAgain = 10 * time.Millisecond

// Slots is a [worker.SlotSupplier] for activities: it hands out as many slots as its limiter has
// room for. Make one with [New]. Several workers may share it. All methods are safe for concurrent
// use.
type Slots struct {
	lim *weir.Limiter

	mu      sync.Mutex
	issued  int           // slots held by workers
	running int           // the number of these that the limiter counts too
	back    chan struct{} // closed when a slot comes back
}

// New returns slots that follow the limiter. Without the interceptor, which [Slots.Plugin]
// installs, the limiter would learn nothing. Other work that the limiter admits takes room from the
// slots, and goes before them. New panics if lim is nil.
func New(lim *weir.Limiter) *Slots {
	if lim == nil {
		panic("weirtemporal: New of a nil limiter")
	}
	return &Slots{lim: lim, back: make(chan struct{})}
}

// ReserveSlot implements [worker.SlotSupplier]: it returns as soon as there is room for one more
// activity, or with the error of ctx.
func (s *Slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	for pressed := false; ctx.Err() == nil; {
		permit, back := s.reserve()
		if permit != nil {
			return permit, nil
		}
		pressed = pressed || s.press(ctx)
		select {
		case <-ctx.Done():
		case <-back:
		case <-again.C:
		}
		again.Reset(lookAgain)
	}
	return nil, ctx.Err()
}

// press makes the limiter count a refusal if the whole limit is in use, and reports whether it was
// in use. A law raises only a limit that holds work back, and does not see that a poller waits.
func (s *Slots) press(ctx context.Context) (full bool) {
	if state := s.lim.Snapshot(); state.InFlight < state.Limit {
		return false // the last slots may still be on their way to activities
	}
	if permit, err := s.lim.TryAcquire(ctx); err == nil { // work has ended meanwhile
		permit.Finish(weir.Ignore)
	}
	return true
}

// TryReserveSlot implements [worker.SlotSupplier]: it returns nil if there is no room now.
func (s *Slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	permit, _ := s.reserve()
	return permit
}

// reserve returns a permit or, if there is no room, a channel that is closed when a slot comes
// back.
func (s *Slots) reserve() (*worker.SlotPermit, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.lim.Snapshot()
	limit := state.Limit
	if state.Shadow {
		limit = state.Max
	}
	polling := max(s.issued-s.running, 0)
	if state.InFlight+polling >= limit {
		return nil, s.back
	}
	s.issued++
	return &worker.SlotPermit{UserData: s}, nil
}

// MarkSlotUsed implements [worker.SlotSupplier]. It does nothing: the interceptor is called at the
// same time, and learns the outcome of the activity too.
func (s *Slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot implements [worker.SlotSupplier]. It does nothing with a permit that is back, or that
// another supplier handed out.
func (s *Slots) ReleaseSlot(info worker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	permit := info.Permit()
	if permit.UserData != any(s) {
		return
	}
	permit.UserData = nil
	s.issued--
	close(s.back)
	s.back = make(chan struct{})
}

// MaxSlots implements [worker.SlotSupplier]: it returns the limiter's Max.
func (s *Slots) MaxSlots() int { return s.lim.Snapshot().Max }

// String returns the number of slots that workers have, and the name of the limiter.
func (s *Slots) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d slots of limiter %s", s.issued, s.lim.Snapshot().Name)
}

// begin takes a permit for an activity that has a slot.
func (s *Slots) begin(ctx context.Context) (weir.Permit, error) {
	permit, err := s.lim.Acquire(ctx)
	if err == nil {
		s.count(1)
	}
	return permit, err
}

// end gives the permit back. Until the slot is back too, it counts as a slot that polls.
func (s *Slots) end(permit weir.Permit, o weir.Outcome) {
	s.count(-1)
	permit.Finish(o)
}

// count adds to the running activities.
func (s *Slots) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += n
}
