package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// second is a window of a second in which the limit was used and all work took d.
func second(d time.Duration) law.Window {
	w := latency(d)
	w.Elapsed = time.Second
	return w
}

func TestPIDByHand(t *testing.T) {
	byHand(t, []hand{{
		"integrates the logarithm",
		law.PID{Ki: 1},
		20,
		[]law.Window{
			second(200 * ms), second(50 * ms), second(100 * ms), second(400 * ms),
			second(time.Minute), second(50 * ms),
		},
		[]string{
			"p95 200ms above 100ms: cut 20 to 10", "p95 50ms below 100ms: raised 10 to 20",
			"p95 100ms near 100ms: held at 20", "p95 400ms above 100ms: cut 20 to 5",
			"p95 1m0s above 100ms: cut 5 to 1", "p95 50ms below 100ms: raised 1 to 2",
		},
	}, {
		"answers in proportion",
		law.PID{Kp: 1, Signal: law.EWMA, Target: 50 * ms},
		20,
		[]law.Window{second(100 * ms), second(100 * ms), second(50 * ms), second(40 * ms)},
		[]string{
			"EWMA 100ms above 50ms: cut 20 to 10", "EWMA 100ms, target 50ms: held at 10",
			"EWMA 50ms near 50ms: raised 10 to 20", "EWMA 40ms below 50ms: raised 20 to 25",
		},
	}, {
		// A window of ten seconds counts for two: 2^-2 and 2^2.
		"caps a long window",
		law.PID{Ki: 1, MaxStep: 2 * time.Second, Quantile: 0.5},
		40,
		[]law.Window{
			with(second(200*ms), func(w *law.Window) { w.Elapsed = 10 * time.Second }),
			with(second(50*ms), func(w *law.Window) { w.Elapsed = time.Hour }),
		},
		[]string{"p50 200ms above 100ms: cut 40 to 10", "p50 50ms below 100ms: raised 10 to 40"},
	}, {
		// Neither the bound nor the unused time winds it up.
		"does not wind up",
		law.PID{Ki: 1},
		150,
		[]law.Window{
			second(25 * ms), second(ms), second(ms), second(200 * ms),
			idle(second(ms), 99), idle(second(ms), 99), second(200 * ms),
		},
		[]string{
			"p95 25ms below 100ms: raised 150 to 200", "p95 1ms, target 100ms: held at 200",
			"p95 1ms, target 100ms: held at 200",
			"p95 200ms above 100ms: cut 200 to 100", "p95 1ms below 100ms, limit not used: held at 100",
			"p95 1ms below 100ms, limit not used: held at 100", "p95 200ms above 100ms: cut 100 to 50",
		},
	}, {
		"bounds errors",
		law.PID{Ki: 1, MaxErrorRate: 0.1},
		50,
		[]law.Window{
			with(second(50*ms), func(w *law.Window) { w.Failures = 25 }),
			with(second(50*ms), func(w *law.Window) { w.Failures = 10 }),
			{Timeouts: 5},
		},
		[]string{
			"error rate 20% above 10%: cut 50 to 45", "p95 50ms below 100ms: raised 45 to 90",
			"error rate 100% above 0%: cut 90 to 45",
		},
	}, {
		"judges only what it can",
		law.PID{},
		20,
		[]law.Window{
			{},
			{Samples: 3, MinSamples: 4},
			{Samples: 3, Elapsed: time.Second},
			{Samples: 3, Latencies: law.Sorted{ms}},
		},
		[]string{
			"no reason given: held at 20", "too few samples (3 of 4): held at 20",
			"too few samples (3 of 1): held at 20", "too few samples (3 of 1): held at 20",
		},
	}})
}

func TestPIDDefaultGains(t *testing.T) {
	// exp(1.3 ln 1/2) of 100 is 40.6, exp(0.3 ln 1/2) is 81.2.
	for _, test := range []struct {
		law  law.PID
		want float64
	}{{law.PID{}, 40}, {law.PID{Kp: 0.3}, 81}, {law.PID{Kd: 1}, 100}} {
		if d := next(start(t, test.law), 100, second(200*ms)); d.Limit != test.want {
			t.Errorf("%v: limit %v, want %v", test.law, d.Limit, test.want)
		}
	}
}

func TestPIDRetunesWithoutBump(t *testing.T) {
	c := start(t, law.PID{Kp: 0.5, Ki: 1})
	limit := 20
	for range 5 {
		limit = int(next(c, limit, second(120*ms)).Limit)
	}
	if !c.(law.Retuner).Retune(law.PID{Kp: 2, Ki: 1e-9}) {
		t.Fatal("refused a PID")
	}
	if d := next(c, limit, second(120*ms)); d.Limit != float64(limit) {
		t.Errorf("from %d to %v", limit, d.Limit)
	}
}

func TestPIDFollowsNewBounds(t *testing.T) {
	c := start(t, law.PID{Ki: 1})
	for _, test := range []struct{ limit, most, want int }{{20, 30, 30}, {30, 40, 40}, {40, 40, 40}} {
		w := second(25 * ms)
		w.Limit, w.Min, w.Max = test.limit, 1, test.most
		if d := c.Next(w); d.Limit != float64(test.want) {
			t.Errorf("limit %v from %d, want %d", d.Limit, test.limit, test.want)
		}
	}
	w := second(50 * ms)
	w.Limit, w.Min, w.Max = 7, 7, 7
	if d := c.Next(w); d.Limit != 7 {
		t.Errorf("limit %v, want 7", d.Limit)
	}
}
