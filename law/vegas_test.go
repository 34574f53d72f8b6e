package law_test

import (
	"testing"

	"github.com/weir-go/weir/law"
)

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
			"standing queue 5 near 3: held at 26",
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
