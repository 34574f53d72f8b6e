package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

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
