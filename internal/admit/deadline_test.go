package admit_test

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// learn keeps all slots taken by work of the given latency that ends evenly spaced, until the
// node has measured it. It returns the tickets of the work still running, the first to end
// first.
func (r *rig) learn(slots int, latency time.Duration) []*reply.Ticket {
	r.t.Helper()
	out := make([]*reply.Ticket, slots)
	for i := range out {
		out[i] = r.must(1)
	}
	for range 200 {
		r.now += latency / time.Duration(slots)
		r.done(out[0], window.Success)
		out = append(out[1:], r.must(1))
	}
	return out
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: %v, want %v to within %v", what, got, want, tolerance)
	}
}

// Time in which nothing was held back says nothing about the drain rate.
func TestDrainRateCountsSaturatedTimeOnly(t *testing.T) {
	r := newRig(t, 2, nil)
	for range 100 {
		first, second := r.must(1), r.must(1)
		r.now += 20 * ms
		r.done(first, window.Success)
		r.done(second, window.Success) // no longer saturated
		r.now += time.Second
	}
	within(t, "rate", r.state().DrainRate, 50, 0.05)
}

func TestRetryAfterIsWhatTakesToDrain(t *testing.T) {
	r := newRig(t, 10, func(s *admit.Settings) { s.QueueSize = 5; s.QueueTimeout = time.Hour })
	if r.ask(admit.Work{Weight: 100}); r.fx.RetryAfter != 0 {
		t.Errorf("retry after %v before anything drained", time.Duration(r.fx.RetryAfter))
	}
	r = newRig(t, 10, func(s *admit.Settings) { s.QueueSize = 5; s.QueueTimeout = time.Hour })
	r.learn(10, 100*ms)
	r.try(1)
	within(t, "without a waiter", float64(r.fx.RetryAfter), float64(100*ms), 0.05)
	for range 5 {
		r.join()
	}
	for range 1000 { // a client that retries counts once
		r.try(1)
		within(t, "behind five", float64(r.fx.RetryAfter), (5+10)*float64(10*ms), 0.05)
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.QueueTimeout = time.Hour })
	r.learn(1, 20*time.Second)
	r.join()
	if r.try(1); time.Duration(r.fx.RetryAfter) != 30*time.Second {
		t.Errorf("retry after %v: want 30s, though it takes 40s until all that runs and waits is done",
			time.Duration(r.fx.RetryAfter))
	}
}

// Before anything has drained in saturated time, Little's law gives the rate at which work
// ends.
func TestRetryAfterFromLatency(t *testing.T) {
	r := newRig(t, 4, nil)
	for range 3 {
		ticket := r.must(1)
		r.now += 100 * ms
		r.done(ticket, window.Success)
	}
	r.must(4) // one of weight four
	r.try(1)
	within(t, "retry after", float64(r.fx.RetryAfter), float64(100*ms), 0.05)
}

// Work takes 1 s, a slot is free every 50 ms. Requests with a budget of 200 ms must still get
// a chance, or the node would never find out that work became faster.
func TestServiceTimeIsAtMostHalfTheBudget(t *testing.T) {
	r := newRig(t, 20, nil)
	out := r.learn(20, time.Second)
	q := r.join(due(r.now + 200*ms))
	want(t, reply.Waiting, q)
	r.now += 50 * ms
	r.done(out[0], window.Success)
	want(t, reply.Admitted, q)
}
