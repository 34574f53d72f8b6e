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

// The law sees the work that its own limit holds back. A limit that is not reached says nothing
// about a higher one, so the law sees no work that the group, the cap or the pace holds back. The
// histograms count all waits.
func TestLawHearsOfItsLimitOnly(t *testing.T) {
	type node = *admit.Node
	for name, c := range map[string]struct {
		limit   int
		group   *admit.Group
		set     func(n node, now int64, fx *admit.Effects)
		refused reply.Verdict
	}{
		"limit":            {1, nil, nil, reply.LimitReached},
		"limit in a group": {1, admit.NewGroup(2), nil, reply.LimitReached},
		"group":            {5, admit.NewGroup(1), nil, reply.LimitReached},
		"cap":              {5, nil, func(n node, now int64, fx *admit.Effects) { n.SetCap(1, now, fx) }, reply.LimitReached},
		"pace":             {5, nil, func(n node, now int64, fx *admit.Effects) { n.SetPace(admit.Pace{Rate: 10}, now, fx) }, reply.Paced},
	} {
		t.Run(name, func(t *testing.T) {
			l := &recorder{}
			r := newLawRig(t, l, settings(c.limit, accumulating), c.group)
			if c.set != nil {
				now, fx := r.call()
				c.set(r.node, now, fx)
			}
			ticket := r.must(1)
			for range 20 {
				q := r.join()
				if got := r.try(1); got != c.refused {
					t.Fatalf("%v, want %v", got, c.refused)
				}
				r.now += 100 * ms
				r.done(ticket, window.Success)
				ticket = &q.Ticket
			}
			w, s := l.last(), r.state()
			heard := w.Saturated == 1 && w.Refused > 0 && w.Waited > 0 && w.QueueWait == 100*ms && s.Recent.QueueWait > 0
			deaf := w.Saturated == 0 && w.Refused == 0 && w.Waited == 0 && !w.Used() && s.Recent.QueueWait == 0
			if limited := c.limit == 1; l.closed() == 0 || heard != limited || deaf == limited {
				t.Errorf("after %d windows the law saw %v saturated, %d refused, %d waited for %v",
					l.closed(), w.Saturated, w.Refused, w.Waited, w.QueueWait)
			}
			if (s.Member.Wait > 0) != (name == "group") {
				t.Errorf("waited %v for the group", s.Member.Wait)
			}
			if name != "pace" {
				within(t, "rate", s.DrainRate, 10, 0.05)
			}
			got := r.cumulative()
			within(t, "waits", got.Waits.Snapshot().Sum, 2, 0.001)
			if got.Waits.Snapshot().Count != 20 || got.Latencies.Snapshot().Count != 20 || got.Peak() != 1 {
				t.Errorf("%+v: want 20 waits and latencies, and a peak of 1", got)
			}
		})
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
