package admit_test

import (
	"testing"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

func accumulating(s *admit.Settings) { s.Cumulative = true }

func (r *rig) cumulative() *window.Cumulative {
	c := window.NewCumulative()
	r.node.State(int64(r.now), c)
	return c
}

// The law only sees waits for the limit; the histogram counts waits for any reason.
func TestAllWaitsAreAccumulated(t *testing.T) {
	grouped := newLawRig(t, law.Fixed{}, settings(100, accumulating), admit.NewGroup(1))
	paced := newRig(t, 100, accumulating)
	limited := newRig(t, 1, accumulating)
	now, fx := paced.call()
	paced.node.SetPace(admit.Pace{Rate: 10}, now, fx)

	for name, r := range map[string]*rig{"group": grouped, "pace": paced, "limit": limited} {
		first := r.must(1)
		q := r.join()
		want(t, reply.Waiting, q)
		r.now += 100 * ms
		r.done(first, window.Success)
		want(t, reply.Admitted, q)
		got := r.cumulative()
		if waits := got.Waits.Snapshot(); waits.Count != 1 || waits.Sum != 0.1 {
			t.Errorf("%s: waits %+v: want one of 100 ms", name, waits)
		}
		if recent := r.state().Recent.QueueWait; (recent > 0) != (name == "limit") {
			t.Errorf("%s: the law heard of a wait of %v", name, recent)
		}
		if got.Latencies.Snapshot().Count != 1 || got.Peak() != 1 {
			t.Errorf("%s: %d latencies and a peak of %d", name, got.Latencies.Snapshot().Count, got.Peak())
		}
	}
}

// In shadow mode the histograms count the real work.
func TestAccumulatedIsWhatRuns(t *testing.T) {
	r := newRig(t, 1, accumulating)
	ticket := r.must(1)
	q := r.join()
	r.now += 50 * ms
	shadow := settings(1, accumulating)
	shadow.Shadow = true
	r.update(shadow, law.Fixed{})
	want(t, reply.Admitted, q)
	others := []*reply.Ticket{&q.Ticket, r.must(1), r.must(1), ticket}
	r.now += 50 * ms
	for _, ticket := range others {
		r.done(ticket, window.Success)
	}
	r.update(settings(1, accumulating), law.Fixed{})
	c := r.cumulative()
	if latencies, waits := c.Latencies.Snapshot(), c.Waits.Snapshot(); latencies.Count != 4 || latencies.Sum != 0.25 ||
		waits.Count != 1 || c.Peak() != 4 {
		t.Errorf("%+v, %+v, peak %d: want four latencies, a wait and a peak of 4", latencies, waits, c.Peak())
	}
}
