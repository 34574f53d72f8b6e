package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

const ms = time.Millisecond

// latency is a window in which the limit was used and all work took d.
func latency(d time.Duration) law.Window {
	return law.Window{Samples: 100, Peak: 1 << 30, EWMA: d, Latencies: law.Sorted{d}}
}

// with returns the changed window.
func with(w law.Window, change func(*law.Window)) law.Window {
	change(&w)
	return w
}

func start(t *testing.T, l law.Law) law.Controller {
	t.Helper()
	return must.Have(l.Controller(law.Bounds{Min: 1, Max: 200, Initial: 20}))(t)
}

// next shows the controller a window under a limit between 1 and 200.
func next(c law.Controller, limit int, w law.Window) law.Decision {
	w.Limit, w.Min, w.Max = limit, 1, 200
	return c.Next(w)
}

func TestBandByHand(t *testing.T) {
	byHand(t, []hand{{
		"falls by the factor",
		law.Band{},
		10,
		[]law.Window{latency(500 * ms), latency(500 * ms), latency(500 * ms), latency(500 * ms), latency(500 * ms)},
		[]string{
			"p95 500ms above 115ms: cut 10 to 7", "p95 500ms above 115ms: cut 7 to 4",
			"p95 500ms above 115ms: cut 4 to 2", "p95 500ms above 115ms: cut 2 to 1",
			"p95 500ms above 115ms: held at 1",
		},
	}, {
		"rounds products that fall short",
		law.Band{},
		90,
		[]law.Window{latency(116 * ms)},
		[]string{"p95 116ms above 115ms: cut 90 to 63"},
	}, {
		"always takes a slot",
		law.Band{Factor: 1 - 1e-12},
		3,
		[]law.Window{latency(116 * ms)},
		[]string{"p95 116ms above 115ms: cut 3 to 2"},
	}, {
		"rises by a step to the maximum",
		law.Band{Step: 3},
		195,
		[]law.Window{latency(40 * ms), latency(40 * ms), latency(40 * ms)},
		[]string{
			"p95 40ms below 85ms: raised 195 to 198", "p95 40ms below 85ms: raised 198 to 200",
			"p95 40ms below 85ms: held at 200",
		},
	}, {
		"holds in the band, edges included",
		law.Band{},
		20,
		[]law.Window{latency(85 * ms), latency(95 * ms), latency(105 * ms), latency(115 * ms)},
		[]string{
			"p95 85ms near 100ms: held at 20", "p95 95ms near 100ms: held at 20",
			"p95 105ms near 100ms: held at 20", "p95 115ms near 100ms: held at 20",
		},
	}, {
		"leaves the band by a nanosecond",
		law.Band{},
		20,
		[]law.Window{latency(115*ms + 1), latency(85*ms - 1)},
		[]string{"p95 115ms above 115ms: cut 20 to 14", "p95 85ms below 85ms: raised 14 to 15"},
	}, {
		"bounds a cut",
		law.Band{MaxCut: 5},
		100,
		[]law.Window{latency(131 * ms)},
		[]string{"p95 131ms above 115ms: cut 100 to 95"},
	}, {
		"does not raise what is not used",
		law.Band{Tolerance: 0.1},
		20,
		[]law.Window{
			with(latency(88*ms), func(w *law.Window) { w.Peak = 19 }),
			with(latency(88*ms), func(w *law.Window) { w.Peak = 20 }),
			with(latency(88*ms), func(w *law.Window) { w.Peak, w.Refused = 3, 1 }),
		},
		[]string{
			"p95 88ms below 90ms, limit not used: held at 20", "p95 88ms below 90ms: raised 20 to 21",
			"p95 88ms below 90ms: raised 21 to 22",
		},
	}, {
		"holds on few samples",
		law.Band{MinSamples: 20},
		20,
		[]law.Window{
			with(latency(500*ms), func(w *law.Window) { w.Samples = 19 }),
			with(latency(500*ms), func(w *law.Window) { w.Samples, w.MinSamples = 20, 30 }),
			{},
		},
		[]string{
			"too few samples (19 of 20): held at 20", "too few samples (20 of 30): held at 20",
			"no reason given: held at 20",
		},
	}, {
		"cuts by errors, also when nothing succeeds",
		law.Band{MaxErrorRate: 0.05},
		20,
		[]law.Window{
			with(latency(40*ms), func(w *law.Window) { w.Samples, w.Failures, w.Timeouts = 88, 10, 2 }),
			{Timeouts: 30},
			{Failures: 30},
			with(latency(40*ms), func(w *law.Window) { w.Samples, w.Failures = 95, 5 }),
			with(latency(40*ms), func(w *law.Window) { w.Samples, w.Failures = 96, 4 }),
		},
		[]string{
			"error rate 12% above 5%: cut 20 to 14", "error rate 100% above 5%: cut 14 to 9",
			"error rate 100% above 5%: cut 9 to 6", "error rate 5% near 5%: held at 6",
			"p95 40ms below 85ms: raised 6 to 7",
		},
	}, {
		"leaves errors alone without a bound",
		law.Band{},
		20,
		[]law.Window{{Timeouts: 30}},
		[]string{"too few samples (0 of 1): held at 20"},
	}, {
		"holds another quantile",
		law.Band{Quantile: 0.5, Target: 2 * time.Second},
		20,
		[]law.Window{with(latency(0), func(w *law.Window) {
			w.Latencies = law.SortedOf(3*time.Second, 1200*ms, 850*time.Microsecond)
		})},
		[]string{"p50 1.2s below 1.7s: raised 20 to 21"},
	}, {
		"holds the average",
		law.Band{Signal: law.EWMA},
		20,
		[]law.Window{
			with(latency(500*ms), func(w *law.Window) { w.EWMA = 100 * ms }),
			with(latency(40*ms), func(w *law.Window) { w.EWMA = 131 * ms }),
		},
		[]string{"EWMA 100ms near 100ms: held at 20", "EWMA 131ms above 115ms: cut 20 to 14"},
	}, {
		"average for speed, p95 for safety",
		law.Band{Signal: law.EWMA, Ceiling: 200 * ms},
		20,
		[]law.Window{
			with(latency(150*ms), func(w *law.Window) { w.EWMA = 50 * ms }),
			with(latency(180*ms), func(w *law.Window) { w.EWMA = 50 * ms }),
			with(latency(250*ms), func(w *law.Window) { w.EWMA = 50 * ms }),
			with(latency(180*ms), func(w *law.Window) { w.EWMA = 120 * ms }),
		},
		[]string{
			"EWMA 50ms below 85ms: raised 20 to 21", "p95 180ms near 200ms: held at 21",
			"p95 250ms above 200ms: cut 21 to 14", "EWMA 120ms above 115ms: cut 14 to 9",
		},
	}, {
		"adds slots while work waits",
		law.Band{Signal: law.QueueWait, Target: 20 * ms, Ceiling: 200 * ms},
		20,
		[]law.Window{
			with(latency(50*ms), func(w *law.Window) { w.QueueWait = 31 * ms }),
			with(latency(50*ms), func(w *law.Window) { w.QueueWait = 20 * ms }),
			with(latency(50*ms), func(w *law.Window) { w.QueueWait = 12 * ms }),
			with(latency(190*ms), func(w *law.Window) { w.QueueWait = 31 * ms }),
			with(latency(300*ms), func(w *law.Window) { w.QueueWait = 31 * ms }),
			with(latency(50*ms), func(w *law.Window) { w.QueueWait, w.Peak = 31*ms, 1 }),
		},
		[]string{
			"queue wait 31ms above 23ms: raised 20 to 21", "queue wait 20ms near 20ms: held at 21",
			"queue wait 12ms below 17ms: held at 21", "p95 190ms near 200ms: held at 21",
			"p95 300ms above 200ms: cut 21 to 14", "queue wait 31ms above 23ms, limit not used: held at 14",
		},
	}, {
		// 115/125 of 100 is 92; 115/500 is less than the factor; (85-51)/85 is two
		// fifths of the way, (85-84)/85 a hundredth.
		"moves in proportion",
		law.Band{Proportional: true, Step: 10},
		100,
		[]law.Window{latency(125 * ms), latency(500 * ms), latency(51 * ms), latency(84 * ms), latency(0)},
		[]string{
			"p95 125ms above 115ms: cut 100 to 92", "p95 500ms above 115ms: cut 92 to 64",
			"p95 51ms below 85ms: raised 64 to 68", "p95 84ms below 85ms: raised 68 to 69",
			"p95 0s below 85ms: raised 69 to 79",
		},
	}})
}

func TestBandCooldown(t *testing.T) {
	c := start(t, law.Band{Cooldown: 5 * time.Second, MinSamples: 30})
	for _, test := range []struct {
		name    string
		limit   int
		latency time.Duration
		want    law.Plan
	}{
		{"a cut settles", 20, 500 * ms, law.Plan{MinSamples: 30, Settle: 5 * time.Second}},
		{"a cut that the minimum stops does not", 1, 500 * ms, law.Plan{MinSamples: 30}},
		{"a raise does not", 20, 40 * ms, law.Plan{MinSamples: 30}},
		{"holding does not", 20, 100 * ms, law.Plan{MinSamples: 30}},
	} {
		if got := next(c, test.limit, latency(test.latency)).Next; got != test.want {
			t.Errorf("%s: plan %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestBandRetune(t *testing.T) {
	c := start(t, law.Band{})
	r := c.(law.Retuner)
	if !r.Retune(law.Band{Target: time.Second}) {
		t.Fatal("refused a Band")
	}
	if r.Retune(law.Fixed{}) || r.Retune(law.Band{Factor: 2}) {
		t.Error("took another law or a bad setting")
	}
	if d := next(c, 20, latency(500*ms)); d.Limit != 21 {
		t.Errorf("limit %v after a retune to 1s, want 21", d.Limit)
	}
}
