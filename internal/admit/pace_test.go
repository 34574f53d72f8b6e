package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// A waiter held back by the limit need not look after the pace: the work that ends makes it
// look.
func TestLimitedWaiterSleepsUnderAPace(t *testing.T) {
	r := newRig(t, 1, nil)
	now, fx := r.call()
	r.node.SetPace(admit.Pace{Rate: 1000, Burst: 100}, now, fx)
	ticket := r.must(1)
	r.now = 100 * time.Millisecond
	next, last := r.join(), r.join()
	for i, q := range []*request{next, last} {
		if got := q.Patience(int64(r.now)); got != time.Second {
			t.Errorf("%d is to look again in %v", i, got)
		}
	}
	r.done(ticket, window.Success)
	want(t, reply.Admitted, next)
	want(t, reply.Waiting, last)
}

// Only the first waiter looks again when the pace lets it start, and is notified when that
// comes sooner.
func TestNextIsNudged(t *testing.T) {
	r := newRig(t, 100, nil)
	pace := func(rate float64) {
		now, fx := r.call()
		r.node.SetPace(admit.Pace{Rate: rate}, now, fx)
		fx.Woken.Wake()
	}
	pace(2.5)
	r.must(1)
	next, last := r.join(), r.join()
	if got := next.Patience(int64(r.now)); got != 400*time.Millisecond {
		t.Errorf("next is to look in %v", got)
	}
	if got := last.Patience(int64(r.now)); got != time.Second {
		t.Errorf("last is to look in %v", got)
	}
	pace(4)
	pace(10)
	if next.rechecked != 1 || last.rechecked != 0 {
		t.Fatalf("rechecked %d and %d times before they looked, want 1 and 0", next.rechecked, last.rechecked)
	}
	now, fx := r.call()
	if v := r.node.Recheck(&next.Waiter, true, now, fx); v != reply.Waiting ||
		next.Patience(now) != 100*time.Millisecond {
		t.Errorf("%v, and to look in %v", v, next.Patience(now))
	}
	r.now = 100 * time.Millisecond
	now, fx = r.call()
	if v := r.node.Recheck(&next.Waiter, false, now, fx); v != reply.Admitted {
		t.Errorf("%v when its turn has come", v)
	}
	fx.Woken.Wake()
	if last.rechecked != 1 {
		t.Errorf("the first waiter now was rechecked %d times", last.rechecked)
	}
}

// Work cancelled in the instant of its admission uses no tokens of the pace.
func TestCancelAfterAdmissionGivesThePaceBack(t *testing.T) {
	r := newRig(t, 100, nil)
	now, fx := r.call()
	r.node.SetPace(admit.Pace{Rate: 10}, now, fx)
	r.must(1)
	gone, next := r.join(weighs(5)), r.join()
	r.now = 100 * time.Millisecond
	now, fx = r.call()
	r.node.Recheck(&gone.Waiter, false, now, fx)
	want(t, reply.Admitted, gone)
	want(t, reply.Waiting, next)
	for range 2 { // the second time changes nothing
		r.leave(gone, reply.Cancelled)
	}
	want(t, reply.Admitted, next)
	if got := r.join(); got.verdict() != reply.Waiting || got.Patience(int64(r.now)) != 100*time.Millisecond {
		t.Errorf("%v, and to look in %v: want it to owe nothing but the one that started",
			got.verdict(), got.Patience(int64(r.now)))
	}
}
