package admit_test

import (
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

// The held slots count within the limit of law.Fixed, and within Max with any law.
func TestLimitOfWhatIsHeld(t *testing.T) {
	for name, l := range map[string]law.Law{"fixed": law.Fixed{}, "any": &recorder{}} {
		r := newLawRig(t, l, settings(4, func(s *admit.Settings) { s.Bounds.Max = 6 }), nil)
		limit := map[string]int{"fixed": 4, "any": 6}[name]
		held := r.holdAll(limit)
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
