package admit_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

func (r *rig) measure(ticket *reply.Ticket, outcome window.Outcome) (heard bool) {
	now, fx := r.call()
	r.node.Measure(*ticket, now, outcome, fx)
	r.fx.Woken.Wake()
	return r.fx.Heard
}

// An outcome counts once, when it is recorded; the end of the work counts when the ticket is
// back.
func TestMeasureHearsOnce(t *testing.T) {
	r := newRig(t, 2, nil)
	ticket := r.must(1)
	r.now = time.Second
	if !r.measure(ticket, window.Failure) || r.measure(ticket, window.Timeout) {
		t.Error("want the first outcome to be heard and the second not")
	}
	if s := r.state(); s.InFlight != 1 || s.Failed != 1 || s.Completed != 0 || s.TimedOut != 0 || s.Age != 0 {
		t.Errorf("while it holds its slot: %+v", s)
	}
	r.now += time.Minute
	if !r.done(ticket, window.Timeout) || r.fx.Heard || r.measure(ticket, window.Timeout) {
		t.Error("want the ticket to be taken back, and no outcome to be heard")
	}
	if s := r.state(); s.InFlight != 0 || s.Failed != 1 || s.Completed != 1 || s.TimedOut != 0 {
		t.Errorf("once it is back: %+v", s)
	}
	if !r.done(r.must(1), window.Success) || !r.fx.Heard {
		t.Error("an outcome was not heard")
	}
}

// The latency is the time until the outcome was recorded.
func TestMeasureTakesTheTime(t *testing.T) {
	r := newRig(t, 2, nil)
	ticket := r.must(1)
	r.now = 10 * ms
	r.measure(ticket, window.Success)
	r.now = time.Second
	r.done(ticket, window.Success)
	if got := r.state().Recent; got.Samples != 1 || got.Mean != 10*ms {
		t.Errorf("%d samples, mean %v: want 1 and 10ms", got.Samples, got.Mean)
	}
}

// The law sees the limit and the concurrency of the work it measures. The held slots come on
// top, and a waiter gets the slot at once.
func TestLawSeesNothingOfWhatIsHeld(t *testing.T) {
	l := &recorder{}
	r := newLawRig(t, l, settings(4, nil), nil)
	held, others := r.must(3), r.must(1)
	q := r.join(weighs(2))
	r.measure(held, window.Ignore)
	want(t, reply.Admitted, q)
	if s := r.state(); s.Limit != 7 || s.InFlight != 6 || len(r.node.History()) != 0 {
		t.Errorf("while it is held: %+v", s)
	}
	r.now = 1500 * ms
	r.done(others, window.Success)
	if w := l.last(); w.Limit != 4 || w.Last != 2 || w.First != 3 || w.InFlight != 3 || w.Age != 1500*ms {
		t.Errorf("the law saw %+v", w)
	}
	r.done(held, window.Ignore)
	if s := r.state(); s.Limit != 4 || s.InFlight != 2 {
		t.Errorf("once it is back: %+v", s)
	}
}

// The held slots count within the limit of law.Fixed, and within Max with any law.
func TestLimitOfWhatIsHeld(t *testing.T) {
	for name, l := range map[string]law.Law{"fixed": law.Fixed{}, "any": &recorder{}} {
		r := newLawRig(t, l, settings(4, func(s *admit.Settings) { s.Bounds.Max = 6 }), nil)
		limit := map[string]int{"fixed": 4, "any": 6}[name]
		var held []*reply.Ticket
		for range limit {
			held = append(held, r.must(1))
			r.measure(held[len(held)-1], window.Ignore)
		}
		if got := r.try(1); got != reply.LimitReached {
			t.Errorf("%s: %v", name, got)
		}
		for _, ticket := range held {
			r.now += 2 * time.Second
			r.done(ticket, window.Success)
		}
		if s := r.state(); s.InFlight != 0 || s.Limit < 1 || s.Limit > limit {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The peak covers all work in flight.
func TestPeakCountsWhatIsHeld(t *testing.T) {
	r := newRig(t, 9, func(s *admit.Settings) { s.Cumulative = true })
	r.measure(r.must(3), window.Ignore)
	r.must(2)
	var c window.Cumulative
	r.node.State(int64(r.now), &c)
	if c.Peak() != 5 {
		t.Errorf("peak %d: want 5", c.Peak())
	}
	r.now = 10 * time.Minute
	r.node.State(int64(r.now), &c)
	if c.Peak() != 5 {
		t.Errorf("later, peak %d: want 5", c.Peak())
	}
}

// A law that calls runtime.Goexit at a Measure leaves the node unlocked, and the outcome
// recorded once.
func TestExitAtMeasure(t *testing.T) {
	exits := false
	r := newLawRig(t, lawFunc(func(w law.Window) law.Decision {
		if exits {
			runtime.Goexit()
		}
		return law.Decision{Limit: float64(w.Limit)}
	}), settings(2, nil), nil)
	ticket := r.must(1)
	r.now, exits = 2*time.Second, true
	var all sync.WaitGroup
	all.Go(func() { r.measure(ticket, window.Failure) })
	all.Wait()
	exits = false
	if r.measure(ticket, window.Failure) {
		t.Error("heard again")
	}
	r.done(ticket, window.Success)
	if s := r.state(); s.InFlight != 0 || s.Failed != 1 || s.Completed != 1 {
		t.Errorf("%+v", s)
	}
}
