package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

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
