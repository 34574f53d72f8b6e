package law_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// No function of the package panics on any input, or returns an impossible result.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bounds := law.Bounds{Min: 2, Max: 9, Initial: 5}
	for _, limit := range []float64{nan, inf, -inf, 0, -1, 1e300, math.MaxInt64} {
		for _, fallback := range []int{math.MinInt, -1, 0, 5, math.MaxInt} {
			if got := bounds.Clamp(limit, fallback); got < 2 || got > 9 {
				t.Errorf("Clamp(%v, %d) is %d: want 2 to 9", limit, fallback, got)
			}
		}
	}
	for _, q := range []float64{nan, inf, -inf, -1, 0, 2} {
		if got := law.SortedOf(3, 1, 2).Quantile(q); got < 1 || got > 3 {
			t.Errorf("Quantile(%v) is %v: want one of the three", q, got)
		}
		if got := law.SortedOf().Quantile(q); got != 0 {
			t.Errorf("Quantile(%v) of none is %v", q, got)
		}
		if got := (law.Window{}).Quantile(q); got != 0 {
			t.Errorf("Quantile(%v) of an empty window is %v", q, got)
		}
	}
	for _, w := range []law.Window{
		{}, {Elapsed: -time.Second, Samples: -1}, {Samples: math.MaxInt, Elapsed: math.MaxInt64},
	} {
		for _, share := range []float64{w.ErrorRate(), w.TimeoutRate(), w.Throughput()} {
			if math.IsNaN(share) || math.IsInf(share, 0) || share < 0 {
				t.Errorf("%+v: a rate of %v", w, share)
			}
		}
	}
	for _, r := range []law.Reason{
		{Code: 255, Signal: math.MaxUint16, Have: nan, Want: inf},
		{Code: law.Above, Have: -inf},
		{Code: law.TooFew, Have: nan},
	} {
		if text := law.Explain(r, math.MinInt, math.MaxInt); text == "" || strings.Contains(text, "\n") {
			t.Errorf("%+v: %q", r, text)
		}
	}
}

// With bounds that no limiter would pass, a law returns an error, or keeps to them.
func TestBoundsThatCannotBe(t *testing.T) {
	for _, l := range everyLaw {
		for _, b := range []law.Bounds{
			{},
			{Min: -5, Max: -1, Initial: -3},
			{Min: 9, Max: 1, Initial: 5},
			{Min: 1, Max: math.MaxInt, Initial: math.MaxInt},
		} {
			c, err := l.Controller(b)
			if err != nil {
				continue
			}
			for range 3 {
				c.Next(law.Window{
					Limit: b.Initial, Min: b.Min, Max: b.Max, Elapsed: time.Second, Samples: 10,
					Latencies: law.SortedOf(1),
				})
			}
		}
	}
}
