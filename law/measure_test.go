package law

import (
	"math"
	"testing"
	"time"
)

func TestThroughputCountsWhatRanBefore(t *testing.T) {
	for _, test := range []struct {
		name string
		w    Window
		want float64
	}{
		{"nothing ran before", Window{Elapsed: 2 * time.Second, Samples: 100}, 50},
		{"some did", Window{Elapsed: 2 * time.Second, Samples: 100, First: 20}, 60},
		{"and failed like the rest", Window{
			Elapsed: 2 * time.Second, Samples: 50, Failures: 30, Timeouts: 20, First: 20,
		}, 30},
		{"nothing succeeded", Window{Elapsed: time.Second, Failures: 10, First: 20}, 0},
		{"no time passed", Window{Samples: 10}, 0},
	} {
		if got := throughput(test.w); got != test.want {
			t.Errorf("%s: %v a second, want %v", test.name, got, test.want)
		}
	}
}

func TestLatencyIsWorkInFlightOverThroughput(t *testing.T) {
	w := Window{Elapsed: time.Second, Samples: 100, Mean: 70 * time.Millisecond}
	for _, test := range []struct{ inFlight, want float64 }{
		{10, 0.1}, {0, 0.07}, {-1, 0.07}, {math.NaN(), 0.07}, {math.Inf(1), 0.07}, {math.Inf(-1), 0.07},
	} {
		if w.InFlight = test.inFlight; latency(w) != test.want {
			t.Errorf("%v in flight: %v s, want %v", test.inFlight, latency(w), test.want)
		}
	}
	if got := latency(Window{InFlight: 5, Mean: -1}); got != 0 {
		t.Errorf("nothing measured: %v s", got)
	}
}

func TestEstimateKeepsItsFraction(t *testing.T) {
	var e estimate
	w := Window{Limit: 20, Min: 1, Max: 30}
	if e.at(w) != 20 {
		t.Errorf("starts at %v, want the window's limit", e.at(w))
	}
	if got := e.move(20.8, w); got != 20 || e.at(w) != 20.8 {
		t.Errorf("moved to %v, kept %v", got, e.at(w))
	}
	if w.Limit = 25; e.at(w) != 25 {
		t.Errorf("kept %v though the limit was moved to 25", e.at(w))
	}
	if got := e.move(99, w); got != 30 {
		t.Errorf("moved to %v, beyond the bounds", got)
	}
	if got := e.move(3-1e-12, w); got != 3 {
		t.Errorf("moved to %v, want 3 after rounding", got)
	}
}
