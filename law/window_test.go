package law_test

import (
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
