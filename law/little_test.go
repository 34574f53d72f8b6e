package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

func TestLittleByHand(t *testing.T) {
	byHand(t, []hand{{
		// With no-load latency 0.1 s the formula is P(0.23-R):
		// 200*0.13, then 260*0.13 and 340*0.13, rounded up, 400*0.1175
		// and 400*0.11. At 200 ms it gives 12, and the floor is
		// 400*0.1.
		"follows the formula to the floor",
		law.Little{},
		20,
		[]law.Window{flow(200, 20), flow(260, 26), flow(340, 34), flow(400, 45), flow(400, 48), flow(400, 80)},
		[]string{
			"average 100ms below 115ms: raised 20 to 26", "average 100ms below 115ms: raised 26 to 34",
			"average 100ms below 115ms: raised 34 to 45", "average 113ms below 115ms: raised 45 to 47",
			"average 120ms above 115ms: cut 47 to 44", "average 200ms above 115ms: cut 44 to 40",
		},
	}, {
		"has another floor",
		law.Little{Floor: 0.2},
		20,
		[]law.Window{flow(400, 40), flow(400, 80), flow(400, 120)},
		[]string{
			"average 100ms below 115ms: raised 20 to 52", "average 200ms above 115ms: cut 52 to 12",
			"average 300ms above 115ms: cut 12 to 8",
		},
	}, {
		// 80 ms moves 100 ms to 98 ms: 400*(0.2254-0.08) is 58.2. 300/s
		// moves 400/s to 399/s: 399*(0.2254-0.12) is 42.1. Without use,
		// half a window of 50 ms moves 98 ms to 95.6 ms, and 100/s
		// nothing: 399*(0.21988-0.12) is 39.9.
		"averages falls, the peak ten times slower",
		law.Little{},
		40,
		[]law.Window{flow(400, 40), flow(400, 32), flow(300, 36), idle(flow(100, 5), 10), flow(399, 47.88)},
		[]string{
			"average 100ms below 115ms: raised 40 to 52", "average 80ms below 113ms: raised 52 to 59",
			"average 120ms above 113ms: cut 59 to 43", "average 50ms below 110ms, limit not used: held at 43",
			"average 120ms above 110ms: cut 43 to 40",
		},
	}, {
		// Of 200 completions 100 succeeded: 199*0.1, the floor.
		"counts failed work against the latency",
		law.Little{},
		20,
		[]law.Window{
			flow(200, 20),
			{Elapsed: time.Second, Samples: 100, Failures: 100, InFlight: 20, Peak: 26},
			{Elapsed: time.Second, Failures: 9},
		},
		[]string{
			"average 100ms below 115ms: raised 20 to 26", "average 200ms above 115ms: cut 26 to 20",
			"error rate 100% above 0%: cut 20 to 10",
		},
	}, {
		// 50 of 200 samples at 40 ms, 150 at 100 ms: 85 ms. Then 100 ms
		// does not move it, and 500*(0.1955-0.1) is 47.75.
		"averages the first no-load latency",
		law.Little{},
		2,
		[]law.Window{flow(50, 2), flow(150, 15), flow(500, 50)},
		[]string{
			"average 40ms below 46ms: raised 2 to 3", "average 100ms near 97.8ms: raised 3 to 15",
			"average 100ms near 97.8ms: raised 15 to 48",
		},
	}, {
		"does not lower what is not filled",
		law.Little{},
		100,
		[]law.Window{flow(200, 20), flow(200, 24)},
		[]string{"average 100ms near 115ms: held at 100", "average 120ms above 115ms: cut 100 to 22"},
	}, {
		"grows from a single slot",
		law.Little{},
		1,
		[]law.Window{flow(10, 1), flow(20, 2), flow(30, 3)},
		[]string{
			"average 100ms below 115ms: raised 1 to 2", "average 100ms below 115ms: raised 2 to 3",
			"average 100ms below 115ms: raised 3 to 4",
		},
	}, {
		// 100*(0.46-0.2) by the last throughput, not 397*(0.46-0.2) by the faded peak.
		"forgets the peak of quicker work",
		law.Little{Remeasure: 2 * time.Second},
		40,
		[]law.Window{flow(400, 40), flow(100, 20), flow(100, 20)},
		[]string{
			"average 100ms below 115ms: raised 40 to 52", "measuring without load: cut 52 to 20",
			"no-load latency 200ms after 100ms: raised 20 to 26",
		},
	}})
}

func TestLittleCountsWhatRanBefore(t *testing.T) {
	// In a window of 250 ms at 400/s and 100 ms, 40 ran before and are no
	// samples; the latency of the rest is 100 ms all the same. Where half of
	// the work fails, so does half of those 40.
	w := law.Window{Elapsed: 250 * ms, Samples: 60, First: 40, Last: 40, InFlight: 40, Peak: 40, Mean: 70 * ms}
	failing := with(w, func(w *law.Window) { w.Samples, w.Failures, w.Timeouts = 30, 20, 10 })
	for latency, w := range map[float64]law.Window{0.1: w, 0.2: failing} {
		if d := next(start(t, law.Little{}), 40, w); d.Limit != 52 || d.Reason.Have != latency {
			t.Errorf("limit %v, %v; want 52 at %v s", d.Limit, d.Reason, latency)
		}
	}
}

func TestLittleProbes(t *testing.T) {
	c := start(t, law.Little{Remeasure: 3 * time.Second})
	for i, step := range []struct {
		limit   int
		window  law.Window
		want    string
		settle  time.Duration
		samples int
	}{
		{40, law.Window{}, "no reason given: held at 40", 0, 40},
		{40, flow(400, 40), "average 100ms below 115ms: raised 40 to 52", 0, 52},
		{52, flow(400, 52), "average 130ms above 115ms: cut 52 to 40", 0, 200},
		{40, flow(400, 44), "measuring without load: cut 40 to 20", 220 * ms, 100},
		// 400*(0.46-0.2): the work has changed, so the limit ramps.
		{20, flow(100, 20), "no-load latency 200ms after 100ms: raised 20 to 104", 0, 104},
		// At 450/s and 240 ms: 450*(0.46-0.24).
		{104, flow(450, 108), "average 240ms above 230ms: cut 104 to 99", 0, 200},
	} {
		d := next(c, step.limit, step.window)
		if got := law.Explain(d.Reason, step.limit, int(d.Limit)); got != step.want {
			t.Errorf("window %d: %q, want %q", i, got, step.want)
		}
		if want := (law.Plan{Settle: step.settle, MaxSamples: step.samples}); d.Next != want {
			t.Errorf("window %d: plan %+v, want %+v", i, d.Next, want)
		}
	}
	// The probe took 1.22 s, so the next is due 24.4 s after it.
	for i := range 23 {
		if d := next(c, 100, flow(450, 90)); d.Reason.Code == law.Probing {
			t.Fatalf("probes again after %d s", i+2)
		}
	}
	if d := next(c, 100, flow(450, 90)); d.Reason.Code != law.Probing || d.Limit != 45 {
		t.Errorf("%v to %v, want a probe with 45", d.Reason, d.Limit)
	}
	// Too few samples end it with the known latency.
	w := flow(5, 1)
	w.MinSamples = 20
	if d := next(c, 45, w); d.Reason.String() != "too few samples (5 of 20)" || d.Limit != 117 {
		t.Errorf("%v to %v, want 450*0.26", d.Reason, d.Limit)
	}
}

// Started inside an overload of a server with 10 workers of 20 ms, each probe halves the
// queue that counts as latency, until there is none.
func TestLittleLeavesAnOverload(t *testing.T) {
	c, limit, probes := start(t, law.Little{Remeasure: time.Second}), 100, 0
	for range 20 {
		d := next(c, limit, flow(min(500, 50*limit), float64(limit)))
		if d.Reason.Code == law.Probing {
			probes++
		}
		limit = int(d.Limit)
	}
	if limit < 10 || limit > 13 || probes < 4 || probes > 5 {
		t.Errorf("limit %d after %d probes, want 10 to 13 after 4 or 5", limit, probes)
	}
}

func TestLittleProbesForFree(t *testing.T) {
	c := start(t, law.Little{Remeasure: 2 * time.Second})
	for i, want := range []string{"average 50ms below 57.5ms, limit not used", "no-load latency 150ms after 50ms"} {
		if d := next(c, 20, idle(flow(200, []float64{10, 30}[i]), 15)); d.Limit != 20 || d.Reason.String() != want {
			t.Errorf("unused: %v to %v, want %s", d.Reason, d.Limit, want)
		}
	}
	c = start(t, law.Little{Remeasure: 1})
	if d := next(c, 1, flow(10, 1)); d.Limit != 1 || d.Reason.Code != law.Rebased {
		t.Errorf("at the minimum: %v to %v", d.Reason, d.Limit)
	}
}
