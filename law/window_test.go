package law_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

func TestClamp(t *testing.T) {
	b := law.Bounds{Min: 2, Max: 9}
	for _, test := range []struct {
		limit    float64
		fallback int
		want     int
	}{
		{4.9, 5, 4},
		{-1, 5, 2},
		{1e300, 5, 9},
		{math.Inf(1), 5, 9},
		{math.Inf(-1), 5, 2},
		{math.NaN(), 5, 5},
		{math.NaN(), 50, 9},
	} {
		if got := b.Clamp(test.limit, test.fallback); got != test.want {
			t.Errorf("%v, fallback %d: %d, want %d", test.limit, test.fallback, got, test.want)
		}
	}
}

func TestWindowRates(t *testing.T) {
	w := law.Window{Samples: 70, Failures: 20, Timeouts: 10, Elapsed: 2 * time.Second}
	if w.Completed() != 100 || w.ErrorRate() != 0.3 || w.TimeoutRate() != 0.1 || w.Throughput() != 35 {
		t.Errorf("%d, %v, %v, %v", w.Completed(), w.ErrorRate(), w.TimeoutRate(), w.Throughput())
	}
	if w = (law.Window{}); w.ErrorRate() != 0 || w.TimeoutRate() != 0 || w.Throughput() != 0 || w.Quantile(0.5) != 0 {
		t.Error("an empty window has rates")
	}
}

func TestSorted(t *testing.T) {
	s := law.SortedOf(4, 2, 1, 3)
	for q, want := range map[float64]time.Duration{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.95: 4, 1: 4} {
		if got := s.Quantile(q); got != want {
			t.Errorf("quantile %v: %d, want %d", q, got, want)
		}
	}
}

func TestReasonString(t *testing.T) {
	for _, test := range []struct {
		reason law.Reason
		want   string
	}{
		{law.Reason{}, "no reason given"},
		{law.Reason{Code: law.Above, Signal: law.P99, Have: 0.2, Want: 0.1}, "p99 200ms above 100ms"},
		{law.Reason{Code: law.Below, Signal: law.P50, Have: 0.1, Want: 0.2}, "p50 100ms below 200ms"},
		{law.Reason{Code: law.Above, Signal: 950, Have: 0.1314, Want: 0.115}, "p95 131ms above 115ms"},
		{law.Reason{Code: law.Above, Signal: 999, Have: 1.2, Want: 0.99}, "p99.9 1.2s above 990ms"},
		{law.Reason{Code: law.Below, Signal: 500, Have: 0.00085, Want: 0.0012345}, "p50 850µs below 1.23ms"},
		{law.Reason{Code: law.Above, Signal: law.EWMA, Have: 0.131, Want: 0.115}, "EWMA 131ms above 115ms"},
		{law.Reason{Code: law.Below, Signal: law.QueueWait, Have: 0.012, Want: 0.02}, "queue wait 12ms below 20ms"},
		{law.Reason{Code: law.Above, Signal: law.Errors, Have: 0.12, Want: 0.05}, "error rate 12% above 5%"},
		{law.Reason{Code: law.Above, Signal: law.Errors, Have: 1. / 3, Want: 0.005}, "error rate 33.3% above 0.5%"},
		{law.Reason{Code: law.Within, Signal: 950, Have: 0.098, Want: 0.1}, "p95 98ms near 100ms"},
		{law.Reason{Code: law.Within, Signal: law.Average, Have: 0.054, Want: 0.109}, "average 54ms, target 109ms"},
		{law.Reason{Code: law.Unused, Signal: 950, Have: 0.088, Want: 0.09}, "p95 88ms below 90ms, limit not used"},
		{law.Reason{Code: law.Pinned}, "pinned"},
		{law.Reason{Code: law.Probing}, "measuring without load"},
		{law.Reason{Code: law.Rebased, Signal: law.NoLoad, Have: 0.15, Want: 0.15}, "no-load latency 150ms"},
		{law.Reason{Code: law.Rebased, Signal: law.NoLoad, Have: 0.15, Want: 0.05}, "no-load latency 150ms after 50ms"},
		{law.Reason{Code: law.Above, Signal: law.Timeouts, Have: 0.12, Want: 0}, "timeout rate 12% above 0%"},
		{law.Reason{Code: law.Above, Signal: law.Standing, Have: 12, Want: 6}, "standing queue 12 above 6"},
		{law.Reason{Code: law.Below, Signal: law.Average, Have: 0.052, Want: 0.0575}, "average 52ms below 57.5ms"},
		{law.Reason{Code: law.Configured}, "configuration changed"},
		{law.Reason{Code: law.TooFew, Have: 3, Want: 20}, "too few samples (3 of 20)"},
		{law.Reason{Code: 99}, "code 99"},
		{law.Reason{Code: law.Above, Have: 0.2, Want: 0.1}, "signal 200ms above 100ms"},
		{law.Reason{Code: law.Above, Signal: 2000, Have: 0.2, Want: 0.1}, "signal 2000 200ms above 100ms"},
	} {
		if got := test.reason.String(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.reason, got, test.want)
		}
	}
}

// No reason is an empty text in JSON, which people and programs look for.
func TestReasonInJSON(t *testing.T) {
	got, err := json.Marshal(map[string]law.Reason{"a": {Code: law.Pinned}, "b": {}})
	if want := `{"a":"pinned","b":""}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestReasonCodeString(t *testing.T) {
	want := []string{
		"none", "above", "below", "within", "unused", "pinned", "configured", "too few", "probing",
		"rebased", "code 10",
	}
	for i, want := range want {
		if got := law.ReasonCode(i).String(); got != want {
			t.Errorf("code %d: %q, want %q", i, got, want)
		}
	}
}
