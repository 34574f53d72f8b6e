package law_test

import (
	"slices"
	"testing"
	"time"

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
	}, {
		"takes the least of the window",
		law.Gradient{Least: true},
		20,
		[]law.Window{{}, {Samples: 5, Least: 10 * ms, Mean: time.Second, Peak: 20}, {Samples: 5, MinSamples: 6}},
		[]string{
			"no reason given: held at 20", "least latency 10ms below 20ms: raised 20 to 24",
			"too few samples (5 of 6): held at 24",
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
