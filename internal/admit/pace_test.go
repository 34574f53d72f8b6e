package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

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
	if got := r.join(); got.Verdict != reply.Waiting || got.Patience(int64(r.now)) != 100*time.Millisecond {
		t.Errorf("%v, and to look in %v: want it to owe nothing but the one that started",
			got.Verdict, got.Patience(int64(r.now)))
	}
}

// A pace that comes back has no debt from before.
func TestPaceComesBackWithoutDebt(t *testing.T) {
	r := newRig(t, 10, nil)
	for _, p := range []admit.Pace{{Rate: 1}, {}, {Rate: 1}} {
		now, fx := r.call()
		r.node.SetPace(p, now, fx)
		r.must(3)
	}
}
