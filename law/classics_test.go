package law_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestGradientByHand(t *testing.T) {
	byHand(t, []hand{{
		// 20+4, 24+4, 28+5; then 33/2+5 is 21.5 and a fifth of the way
		// there is 30.7, 30.7/2+5 is 20.35: 28.63.
		"follows the ratio",
		law.Gradient{},
		20,
		[]law.Window{average(60 * ms), average(50 * ms), average(100 * ms), average(400 * ms), average(400 * ms)},
		[]string{
			"average 60ms below 120ms: raised 20 to 24", "average 50ms below 100ms: raised 24 to 28",
			"average 100ms near 100ms: raised 28 to 33", "average 400ms above 100ms: cut 33 to 30",
			"average 400ms above 100ms: cut 30 to 28",
		},
	}, {
		// 100*(2*50/111.11) + 10 is 100.
		"stands still at the allowed queue",
		law.Gradient{},
		100,
		[]law.Window{idle(average(50*ms), 50), average(111_111_111)},
		[]string{"average 50ms below 100ms, limit not used: held at 100", "average 111ms near 100ms: held at 100"},
	}, {
		// A fifth of the way from 50 to 45 is 49, from 49 to 44.1 is 48.02.
		"cuts by timeouts",
		law.Gradient{},
		50,
		[]law.Window{timeouts(average(50*ms), 1), timeouts(average(50*ms), 100), {Timeouts: 30}},
		[]string{
			"timeout rate 0.99% above 0%: cut 50 to 49", "timeout rate 50% above 0%: cut 49 to 48",
			"error rate 100% above 0%: cut 48 to 24",
		},
	}, {
		// The third window of two re-measures: the limit goes to the root of 104, and the
		// least latency starts anew.
		"measures the least latency anew",
		law.Gradient{Remeasure: 2, Queue: 4},
		100,
		[]law.Window{average(50 * ms), idle(average(ms), 1), average(50 * ms), average(150 * ms)},
		[]string{
			"average 50ms below 100ms: raised 100 to 104", "average 1ms below 2ms, limit not used: held at 104",
			"measuring without load: cut 104 to 4", "average 150ms below 300ms: raised 4 to 8",
		},
	}, {
		"cuts an unused limit only if half of it is used",
		law.Gradient{Smoothing: 1, Tolerance: 1, Queue: 1},
		20,
		[]law.Window{idle(average(50*ms), 19), idle(average(100*ms), 9), idle(average(100*ms), 10)},
		[]string{
			"average 50ms below 50ms, limit not used: held at 20",
			"average 100ms above 50ms, limit not used: held at 20",
			"average 100ms above 50ms: cut 20 to 11",
		},
	}})
}

func TestGradientProbeSettles(t *testing.T) {
	c := start(t, law.Gradient{Remeasure: 1})
	next(c, 100, average(50*ms))
	d := next(c, 110, average(50*ms))
	if want := (law.Plan{MaxSamples: 100, Settle: 100 * ms}); d.Limit != 10 || d.Next != want {
		t.Errorf("probe with limit %v and plan %+v, want 10 and %+v", d.Limit, d.Next, want)
	}
}

func TestGradient2ByHand(t *testing.T) {
	byHand(t, []hand{{
		// A raise is a fifth of 4 slots: 20.8, 21.6. The average is
		// then 300/3 and 21.6*0.75+4 is 20.2, a fifth of the way there
		// 21.32. Then it is 1800/4, and the half of 21.32 plus 4 is
		// 14.66: 19.99.
		"follows the ratio to the average",
		law.Gradient2{},
		20,
		[]law.Window{average(50 * ms), average(50 * ms), average(200 * ms), average(1500 * ms)},
		[]string{
			"average 50ms below 75ms: held at 20", "average 50ms below 75ms: raised 20 to 21",
			"average 200ms above 150ms: held at 21", "average 1.5s above 675ms: cut 21 to 19",
		},
	}, {
		// 250 is more than twice 100 and becomes 237.5, the next
		// average 241.7.
		"forgets an overload sooner",
		law.Gradient2{Tolerance: 2, Queue: 5, Smoothing: 1},
		20,
		[]law.Window{average(400 * ms), average(100 * ms), average(250 * ms)},
		[]string{
			"average 400ms below 800ms: raised 20 to 25", "average 100ms below 500ms: raised 25 to 30",
			"average 250ms below 483ms: raised 30 to 35",
		},
	}, {
		// With Long at 3 the eleventh window weighs a half.
		"averages exponentially after ten windows",
		law.Gradient2{Long: 3, Tolerance: 1},
		200,
		[]law.Window{
			average(100 * ms), average(100 * ms), average(100 * ms), average(100 * ms), average(100 * ms),
			average(100 * ms), average(100 * ms), average(100 * ms), average(100 * ms), average(100 * ms),
			average(200 * ms),
		},
		append(slices.Repeat([]string{"average 100ms near 100ms: held at 200"}, 10),
			"average 200ms above 150ms: cut 200 to 190"),
	}, {
		"judges only what it can",
		law.Gradient2{},
		20,
		[]law.Window{
			{},
			{Samples: 3, MinSamples: 4, Mean: ms},
			idle(average(50*ms), 19),
			idle(average(100*ms), 9),
			{Failures: 4},
		},
		[]string{
			"no reason given: held at 20", "too few samples (3 of 4): held at 20",
			"average 50ms below 75ms, limit not used: held at 20",
			"average 100ms below 113ms, limit not used: held at 20",
			"error rate 100% above 0%: cut 20 to 10",
		},
	}})
}

func TestAIMDByHand(t *testing.T) {
	byHand(t, []hand{{
		"cuts by the factor, adds a step",
		law.AIMD{Timeout: 200 * ms},
		30,
		[]law.Window{average(201 * ms), average(200 * ms), average(10 * ms), average(time.Second)},
		[]string{
			"average 201ms above 200ms: cut 30 to 27", "average 200ms below 200ms: raised 27 to 28",
			"average 10ms below 200ms: raised 28 to 29", "average 1s above 200ms: cut 29 to 26",
		},
	}, {
		"always takes a slot, down to the minimum",
		law.AIMD{Backoff: 1 - 1e-12, Timeout: ms},
		3,
		[]law.Window{average(2 * ms), average(2 * ms), average(2 * ms)},
		[]string{
			"average 2ms above 1ms: cut 3 to 2", "average 2ms above 1ms: cut 2 to 1",
			"average 2ms above 1ms: held at 1",
		},
	}, {
		"cuts by timeouts, also when nothing succeeds",
		law.AIMD{MaxTimeoutRate: 0.05},
		100,
		[]law.Window{timeouts(average(ms), 5), timeouts(average(ms), 10), {Timeouts: 20}, {Failures: 20}},
		[]string{
			"average 1ms below 5s: raised 100 to 101", "timeout rate 9.09% above 5%: cut 101 to 90",
			"timeout rate 100% above 5%: cut 90 to 81", "too few samples (0 of 1): held at 81",
		},
	}, {
		"raises only what is used",
		law.AIMD{Step: 5},
		20,
		[]law.Window{{}, idle(average(ms), 19), idle(average(ms), 20), {Samples: 9, MinSamples: 10, Mean: ms}},
		[]string{
			"no reason given: held at 20", "average 1ms below 5s, limit not used: held at 20",
			"average 1ms below 5s: raised 20 to 25", "too few samples (9 of 10): held at 25",
		},
	}})
}

func TestAIMDPlan(t *testing.T) {
	c := start(t, law.AIMD{MinSamples: 10})
	if got, want := next(c, 150, average(ms)).Next, (law.Plan{MinSamples: 10, MaxSamples: 151}); got != want {
		t.Errorf("plan %+v, want %+v", got, want)
	}
	if got, want := next(c, 20, average(ms)).Next, (law.Plan{MinSamples: 10, MaxSamples: 100}); got != want {
		t.Errorf("plan %+v, want %+v", got, want)
	}
	w := average(ms)
	w.MinSamples = 300
	if got, want := next(c, 20, w).Next, (law.Plan{MinSamples: 10, MaxSamples: 300}); got != want {
		t.Errorf("plan %+v, want %+v", got, want)
	}
}

func TestVegasByHand(t *testing.T) {
	byHand(t, []hand{{
		// Of 26 slots 26*4/54 wait, that is 2; of 27, 27*20/70, that is 8; of 26, 26*10/60,
		// that is 5.
		"keeps what stands between its bounds",
		law.Vegas{},
		20,
		[]law.Window{average(50 * ms), average(50 * ms), average(54 * ms), average(70 * ms), average(60 * ms)},
		[]string{
			"no-load latency 50ms after 0s: held at 20", "standing queue 0 below 3: raised 20 to 26",
			"standing queue 2 below 3: raised 26 to 27", "standing queue 8 above 6: cut 27 to 26",
			"standing queue 5, target 3: held at 26",
		},
	}, {
		"moves a large limit by more",
		law.Vegas{},
		100,
		[]law.Window{average(50 * ms), average(50 * ms), average(100 * ms), timeouts(average(50*ms), 1)},
		[]string{
			"no-load latency 50ms after 0s: held at 100", "standing queue 0 below 6: raised 100 to 112",
			"standing queue 56 above 12: cut 112 to 110", "timeout rate 0.99% above 0%: cut 110 to 108",
		},
	}, {
		"follows falls at once and rises by probes",
		law.Vegas{Probe: 0.2},
		20,
		[]law.Window{average(50 * ms), average(40 * ms), average(80 * ms), average(80 * ms), average(80 * ms)},
		[]string{
			"no-load latency 50ms after 0s: held at 20", "no-load latency 40ms after 50ms: held at 20",
			"standing queue 10 above 6: cut 20 to 19", "no-load latency 80ms after 40ms: held at 19",
			"standing queue 0 below 3: raised 19 to 25",
		},
	}, {
		"judges only what it can",
		law.Vegas{},
		20,
		[]law.Window{
			{},
			{Samples: 3, MinSamples: 4, Mean: ms},
			average(50 * ms), idle(average(50*ms), 19), idle(average(100*ms), 9), idle(average(100*ms), 10),
			{Failures: 4},
		},
		[]string{
			"no reason given: held at 20", "too few samples (3 of 4): held at 20",
			"no-load latency 50ms after 0s: held at 20", "standing queue 0 below 3, limit not used: held at 20",
			"standing queue 10 above 3, limit not used: held at 20", "standing queue 10 above 6: cut 20 to 19",
			"error rate 100% above 0%: cut 19 to 9",
		},
	}})
}

func TestFixedPinsWithinTheBounds(t *testing.T) {
	c := start(t, law.Fixed{Limit: 60})
	for _, test := range []struct{ low, high, want int }{{1, 200, 60}, {1, 50, 50}, {70, 200, 70}} {
		if d := c.Next(law.Window{Limit: 20, Min: test.low, Max: test.high}); d.Limit != float64(test.want) ||
			d.Reason.Code != law.Pinned {
			t.Errorf("%d to %d: %v to %v, want %d", test.low, test.high, d.Reason, d.Limit, test.want)
		}
	}
}

// Without a limit of its own it keeps the one of the limiter, also where bounds moved that.
func TestFixedKeepsTheLimitOfItsLimiter(t *testing.T) {
	c := must.Have(law.Fixed{}.Controller(law.Bounds{Min: 1, Max: 100, Initial: 10}))(t)
	for _, w := range []law.Window{{Limit: 10, Min: 1, Max: 100}, {Limit: 5, Min: 1, Max: 5}, {Limit: 5, Min: 1, Max: 100}} {
		if d := c.Next(w); d.Limit != float64(w.Limit) {
			t.Errorf("%v of a limit of %d within %d and %d", d.Limit, w.Limit, w.Min, w.Max)
		}
	}
	for next, retuned := range map[law.Fixed]bool{{}: true, {Limit: 10}: false} {
		if c.(law.Retuner).Retune(next) != retuned {
			t.Errorf("retuned to %v: want %v", next, retuned)
		}
	}
}

// A hand is a sequence worked out by hand: each window has the limit, from 1 to 200, that the
// one before led to.
type hand struct {
	name    string
	law     law.Law
	from    int
	windows []law.Window
	want    []string
}

func byHand(t *testing.T, hands []hand) {
	t.Helper()
	for _, h := range hands {
		t.Run(h.name, func(t *testing.T) {
			c, limit := start(t, h.law), h.from
			for i, w := range h.windows {
				d, from := next(c, limit, w), limit
				limit = law.Bounds{Min: 1, Max: 200}.Clamp(d.Limit, limit)
				if got := law.Explain(d.Reason, from, limit); got != h.want[i] {
					t.Errorf("window %d: %q, want %q", i, got, h.want[i])
				}
			}
		})
	}
}

// average is a window of a second in which the limit was used and work took d.
func average(d time.Duration) law.Window {
	return law.Window{Elapsed: time.Second, Samples: 100, Mean: d, Peak: 1 << 30}
}

// flow is a window of a second in which the limit was used, with the given completions and
// work in flight.
func flow(samples int, inFlight float64) law.Window {
	return law.Window{Elapsed: time.Second, Samples: samples, InFlight: inFlight, Peak: 1 << 30}
}

// idle is the window with a peak of its own instead of a used limit.
func idle(w law.Window, peak int) law.Window {
	w.Peak = peak
	return w
}

func timeouts(w law.Window, n int) law.Window {
	w.Timeouts = n
	return w
}
