package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func (r *rig) reweigh(ticket *reply.Ticket, weight int) {
	now, fx := r.call()
	r.node.SetWeight(*ticket, weight, now, fx)
	r.fx.Woken.Wake()
}

func TestCorrectedWeightIsPaced(t *testing.T) {
	r := newRig(t, 100, nil)
	now, fx := r.call()
	r.node.SetPace(admit.Pace{Rate: 10, Burst: 1}, now, fx)
	r.now = time.Second
	ticket := r.must(1)
	r.reweigh(ticket, 10) // it owes nine more
	r.now += 500 * ms
	if got := r.try(1); got != reply.Paced {
		t.Errorf("half a second later: %v", got)
	}
	r.now += 500 * ms
	r.reweigh(r.must(10), 1)
	r.must(1)
	if got := r.node.Corrected(); got != 0 {
		t.Errorf("corrected by %d: want 9-9", got)
	}
}

// The slot goes to the tenant with the least running work, as corrected.
func TestCorrectedWeightIsOfTheTenant(t *testing.T) {
	r := newRig(t, 8, tenants())
	mine, others := r.starts(ann, 1), r.starts(bob, 2)
	r.reweigh(mine[0], 3)
	rest := r.starts(cid, 3)
	first, second := r.join(from(ann)), r.join(from(bob))
	r.done(rest[0], window.Ignore)
	want(t, reply.Waiting, first)
	want(t, reply.Admitted, second)
	r.leave(first, reply.Cancelled)
	for _, ticket := range append(append(append(mine, others...), rest[1:]...), &second.Ticket) {
		r.done(ticket, window.Ignore)
	}
	r.wantCounts(0, 0)
}

// A law sees the final weight of work.
func TestLawLearnsTheCorrectedWeight(t *testing.T) {
	l := &recorder{}
	r := newLawRig(t, l, settings(9, nil), nil)
	ticket := r.must(1)
	r.reweigh(ticket, 5)
	r.now = 2 * time.Second
	r.done(ticket, window.Success)
	if w := l.last(); w.Weight != 5 || w.Peak != 5 || w.InFlight != 5 {
		t.Errorf("the law saw %+v", w)
	}
}
