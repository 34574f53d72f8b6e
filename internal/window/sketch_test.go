package window

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

var quantiles = []float64{0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}

// checkQuantiles compares a meter's quantiles with the exact ones by nearest rank, of
// latencies brought into the histogram's range.
func checkQuantiles(t *testing.T, got law.Latencies, latencies []time.Duration) {
	t.Helper()
	exact := law.SortedOf(latencies...)
	for _, q := range quantiles {
		want := min(max(exact.Quantile(q), time.Microsecond), time.Hour)
		if len(exact) == 0 {
			want = 0
		}
		if off := math.Abs(float64(got.Quantile(q) - want)); off > 0.04*float64(want)+0.5 {
			t.Fatalf("quantile %v of %d is %v, want %v within 4%%", q, len(exact), got.Quantile(q), want)
		}
	}
}

func record(m *Meter, latencies ...time.Duration) {
	for _, v := range latencies {
		m.Done(m.last-int64(v), m.last, 1, Success)
	}
}

func TestQuantileOfNonsense(t *testing.T) {
	m := New(0, time.Second)
	record(m, time.Millisecond, time.Second)
	for _, q := range []float64{math.NaN(), math.Inf(-1), -1} {
		if got := m.Quantile(q); got > 2*time.Millisecond {
			t.Errorf("quantile %v is %v, want the least", q, got)
		}
	}
	for _, q := range []float64{math.Inf(1), 2} {
		if got := m.Quantile(q); got < time.Second*9/10 {
			t.Errorf("quantile %v is %v, want the greatest", q, got)
		}
	}
}

// TestMiddle covers every cell: both bounds are within 4% of the middle.
func TestMiddle(t *testing.T) {
	for octave := lowestOctave; octave <= 41; octave++ {
		for i := range cells {
			lo := math.Exp2(float64(octave)) * float64(bounds[i]) / 128
			hi := math.Exp2(float64(octave)) * float64(bounds[i+1]) / 128
			mid := float64(middle(octave, i))
			if (mid-lo)/lo > 0.04+0.5/lo || (hi-mid)/hi > 0.04+0.5/hi {
				t.Errorf("cell %d of octave %d: %v stands for [%v, %v)", i, octave, mid, lo, hi)
			}
		}
	}
}

// TestCellsCarry fills single cells far beyond eight bits, on both sides.
func TestCellsCarry(t *testing.T) {
	const fast, slow = time.Millisecond, time.Minute
	var h sketch
	for range 1_000_000 {
		h.add(0, int64(fast))
	}
	for range 255 {
		h.add(1, int64(fast))
	}
	for range 300 {
		h.add(1, int64(slow))
	}
	one, both := sides{true, false}, sides{true, true}
	expectCount(t, &h, one, 1_000_000, 0)
	expectCount(t, &h, both, 1_000_255, 300)
	h.fold(1)
	expectCount(t, &h, one, 1_000_255, 300)
	expectCount(t, &h, sides{false, true}, 0, 0)
	h.fold(0)
	expectCount(t, &h, sides{false, true}, 1_000_255, 300)
	h.clear(1)
	expectCount(t, &h, both, 0, 0)
}

// expectCount expects the given numbers of about a millisecond and of about a minute, by the
// ranks at which the latency changes.
func expectCount(t *testing.T, h *sketch, s sides, fast, slow uint64) {
	t.Helper()
	if fast > 0 && h.ranked(s, fast) > 2*time.Millisecond {
		t.Errorf("fewer than %d fast ones", fast)
	}
	if slow > 0 && h.ranked(s, fast+1) < 50*time.Second {
		t.Errorf("more than %d fast ones", fast)
	}
	total := uint64(0)
	for side := range s {
		if !s[side] {
			continue
		}
		for i := range h.rows {
			for _, n := range h.rows[i][side] {
				total += uint64(n)
			}
		}
		for c := h.carries; c != nil; c = c.next {
			for _, n := range c.wraps[side] {
				total += uint64(n) << 8
			}
		}
	}
	if total != fast+slow {
		t.Errorf("counted %d, want %d", total, fast+slow)
	}
}
