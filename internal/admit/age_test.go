package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// The measurements of a slow spell say nothing after a day without work: 80,000 quick
// requests in batches a tenth above the limit, each of which could wait and be served.
func TestSlowSpellIsForgotten(t *testing.T) {
	for _, order := range []queue.Order{queue.FIFO, queue.Adaptive} {
		r := newRig(t, 100, func(s *admit.Settings) { s.QueueSize, s.Order = 100, order })
		for _, ticket := range r.learn(100, 10*time.Second) {
			r.done(ticket, window.Success)
		}
		r.now += 24 * time.Hour
		refused := 0
		for range 80_000 / 110 {
			var tickets []*reply.Ticket
			for range 100 {
				tickets = append(tickets, r.must(1))
			}
			var late []*request
			for range 10 {
				late = append(late, r.join(due(r.now+50*ms)))
			}
			r.now += 10 * ms
			for _, ticket := range tickets {
				r.done(ticket, window.Success)
			}
			r.now += 10 * ms
			for _, q := range late {
				if q.Verdict != reply.Admitted {
					refused++
					continue
				}
				r.done(&q.Ticket, window.Success)
			}
			r.now += 80 * ms
		}
		if refused > 0 {
			t.Errorf("order %d: %d were refused that had time", order, refused)
		}
	}
}

// Time without completions, before the limit was raised, does not count after a day either.
func TestStallIsForgotten(t *testing.T) {
	r := newRig(t, 2, nil)
	stalled := []*reply.Ticket{r.must(1), r.must(1)}
	r.now += time.Minute
	r.update(settings(3, func(s *admit.Settings) { s.Bounds.Min = 3 }), law.Fixed{})
	for _, ticket := range stalled {
		r.done(ticket, window.Success)
	}
	r.now += 24 * time.Hour
	ticket := r.must(3)
	r.now += 10 * ms
	r.done(ticket, window.Success)
	within(t, "rate", r.state().DrainRate, 100, 0.01)
}

// However long the work takes, a rate does not age while it is being measured.
func TestDrainRateHoldsWhileTheLimitIsReached(t *testing.T) {
	r := newRig(t, 2, func(s *admit.Settings) { s.Lookback, s.QueueTimeout = time.Second, time.Hour })
	r.learn(2, 20*time.Second)
	r.now += 10 * time.Minute
	within(t, "rate", r.state().DrainRate, 0.1, 0.01)
	for range 3 {
		r.join()
	}
	want(t, reply.Deadline, r.join(due(r.now+39*time.Second))) // behind three, for 10 s each
	want(t, reply.Waiting, r.join(due(r.now+60*time.Second)))
}

// A rate ages by the time in which nothing was held back, in units of the look-back or of the
// time it took to measure.
func TestDrainRateAges(t *testing.T) {
	for _, c := range []struct {
		latency, pause time.Duration
		known          bool
		then           float64 // after one more completion, which took 10 ms
	}{
		{100 * ms, 0, true, 100},
		{100 * ms, 5 * time.Second, true, 100},
		{100 * ms, 10 * time.Second, false, 100},
		{10 * time.Second, 10 * time.Second, true, 1.28}, // measured in 15 s
		{10 * time.Second, 15 * time.Second, false, 100},
		{10 * time.Second, 24 * time.Hour, false, 100},
	} {
		r := newRig(t, 10, nil)
		for _, ticket := range r.learn(10, c.latency) {
			r.done(ticket, window.Success)
		}
		r.now += c.pause
		if rate := r.state().DrainRate; (rate > 0) != c.known {
			t.Errorf("%v after work of %v: drain rate %v, want it known: %v", c.pause, c.latency, rate, c.known)
		}
		ticket := r.must(10)
		r.now += 10 * ms
		r.done(ticket, window.Success)
		within(t, "then", r.state().DrainRate, c.then, 0.15)
	}
}
