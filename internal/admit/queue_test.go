package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func TestFirstInFirstOut(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	queue := []*request{r.join(), r.join(), r.join()}
	for i, q := range queue {
		r.now += ms
		r.done(ticket, window.Success)
		want(t, reply.Admitted, queue[:i+1]...)
		want(t, reply.Waiting, queue[i+1:]...)
		if q.woken != 1 {
			t.Errorf("request %d was woken %d times", i, q.woken)
		}
		ticket = q.ticket()
		if got, want := q.Queued, int64(i+1)*int64(ms); got != want {
			t.Errorf("request %d waited %d, want %d", i, got, want)
		}
	}
}

// Between the end of work and the start of the next waiter there is no moment at which a
// newcomer could take the slot.
func TestNewcomerDoesNotOvertake(t *testing.T) {
	r := newRig(t, 3, nil)
	r.must(1)
	first := r.must(2)
	heavy := r.join(weighs(3))
	r.done(first, window.Success)
	if got := r.acquire(1); got != reply.MustWait {
		t.Errorf("a newcomer: %v", got)
	}
	if got := r.try(1); got != reply.LimitReached {
		t.Errorf("an impatient newcomer: %v", got)
	}
	late := r.join()
	want(t, reply.Waiting, heavy, late)
}

func TestLanesAreServedStrictly(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	low, normal, high := r.join(inLane(2)), r.join(inLane(1)), r.join(inLane(0))
	beyond := r.join(inLane(99)) // counts as the last lane
	again := r.join(inLane(0))
	for _, q := range []*request{high, again, normal, low, beyond} {
		want(t, reply.Waiting, q)
		r.done(ticket, window.Success)
		want(t, reply.Admitted, q)
		ticket = q.ticket()
	}
}

// A light request of a higher lane goes ahead of a heavy one that does not fit.
func TestHigherLanePassesWhatDoesNotFit(t *testing.T) {
	r := newRig(t, 2, nil)
	r.must(1)
	heavy := r.join(weighs(2), inLane(1))
	light := r.join(inLane(0))
	want(t, reply.Waiting, heavy)
	want(t, reply.Admitted, light)
	if light.woken != 1 {
		t.Errorf("woken %d times", light.woken)
	}
}

func TestQueueSizeIsExact(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.QueueSize = 2 })
	r.must(1)
	// Both calls returned before either joined.
	if a, b := r.acquire(1), r.acquire(1); a != reply.MustWait || b != reply.MustWait {
		t.Fatal(a, b)
	}
	want(t, reply.Waiting, r.join(), r.join())
	want(t, reply.QueueFull, r.join())
	if got := r.try(1); got != reply.LimitReached {
		t.Errorf("acquired: %v", got)
	}
	r.wantCounts(1, 2)
}

func TestLeavingMakesRoom(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.QueueSize = 3 })
	ticket := r.must(1)
	first, second, third := r.join(), r.join(), r.join()
	for _, q := range []*request{second, first} {
		if got := r.leave(q, reply.Cancelled); got != reply.Cancelled || q.woken != 0 {
			t.Errorf("left with %v, woken %d times", got, q.woken)
		}
	}
	r.wantCounts(1, 1)
	r.done(ticket, window.Success)
	want(t, reply.Admitted, third)
	if s := r.state(); s.Cancelled != 2 {
		t.Errorf("%d cancelled, want 2", s.Cancelled)
	}
}

// If the waiter that leaves was the one that did not fit, the waiter behind it may start.
func TestLeavingLetsTheNextGo(t *testing.T) {
	r := newRig(t, 2, nil)
	r.must(1)
	heavy, light := r.join(weighs(2)), r.join()
	want(t, reply.Waiting, light)
	r.leave(heavy, reply.Cancelled)
	want(t, reply.Admitted, light)
}

// A slot comes free just as the time of the first waiter is up: its owner's timer has not
// fired yet.
func TestNobodyIsDispatchedTooLate(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	first := r.join()
	r.now = 500 * ms
	second := r.join()
	r.now = time.Second
	r.done(ticket, window.Success)
	want(t, reply.QueueTimeout, first)
	want(t, reply.Admitted, second)
	if got := r.leave(first, reply.QueueTimeout); got != reply.QueueTimeout || first.woken != 1 {
		t.Errorf("left with %v, woken %d times", got, first.woken)
	}
	if s := r.state(); s.Refused[reply.QueueTimeout] != 1 {
		t.Errorf("counted %d times", s.Refused[reply.QueueTimeout])
	}
}

// Its caller left just after it was admitted: the next waiter gets the slot.
func TestCancelAfterAdmissionPassesTheSlotOn(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	gone, next := r.join(), r.join()
	r.done(ticket, window.Success)
	for range 2 { // the second time changes nothing
		if got := r.leave(gone, reply.Cancelled); got != reply.Cancelled {
			t.Errorf("left with %v", got)
		}
	}
	want(t, reply.Admitted, next)
	r.wantCounts(1, 0)
	if s := r.state(); s.Admitted != 3 || s.Completed != 2 || s.Ignored != 1 || s.Cancelled != 0 {
		t.Errorf("%d admitted, %d completed, %d ignored, %d cancelled", s.Admitted, s.Completed, s.Ignored, s.Cancelled)
	}
}

// An expired waiter still in the queue takes no place from a newcomer.
func TestExpiredTakesNoPlace(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.QueueSize = 1 })
	r.must(1)
	expired := r.join()
	r.now = time.Second
	if got := r.acquire(1); got != reply.MustWait {
		t.Errorf("acquired: %v", got)
	}
	want(t, reply.Waiting, r.join())
	want(t, reply.QueueTimeout, expired)
}

func TestHigherLimitServes(t *testing.T) {
	s := settings(1, func(s *admit.Settings) { s.QueueTimeout = time.Hour })
	r := newLawRig(t, &recorder{limits: []float64{3}}, s, nil)
	r.done(r.must(1), window.Success)
	r.must(1)
	first, second, third := r.join(), r.join(), r.join()
	want(t, reply.Waiting, first, second, third)
	r.now = time.Second
	now, fx := r.call() // any call closes the window
	r.node.Forbid(reply.Cancelled, now, fx)
	fx.Woken.Wake()
	want(t, reply.Admitted, first, second)
	want(t, reply.Waiting, third)
}
