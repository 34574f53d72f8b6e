package window

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/histogram"
)

// naive is the exact model of Cumulative: all durations, and all work that was ever in
// flight.
type naive struct {
	latencies, waits []time.Duration
	levels           []level
}

// level is the work in flight from a moment on.
type level struct {
	from     int64
	inflight int
}

// peak is the most in flight since a moment.
func (n *naive) peak(since int64) (most int) {
	for i, l := range n.levels {
		if i == len(n.levels)-1 || n.levels[i+1].from > since {
			most = max(most, l.inflight)
		}
	}
	return most
}

func expectCounts(t *testing.T, got *histogram.Snapshot, durations []time.Duration) {
	t.Helper()
	counts, sum := map[int]uint64{}, time.Duration(0)
	for _, d := range durations {
		counts[histogram.Index(d)]++
		sum += d
	}
	if got.Count != uint64(len(durations)) || math.Abs(got.Sum-sum.Seconds()) > 1e-12*sum.Seconds() ||
		len(got.Buckets) != len(counts) {
		t.Fatalf("%+v of %d durations, %v in all", got, len(durations), sum)
	}
	for _, b := range got.Buckets {
		if b.Count != counts[b.Index] {
			t.Fatalf("bucket %d has %d: want %d", b.Index, b.Count, counts[b.Index])
		}
	}
	if !slices.IsSortedFunc(got.Buckets, func(a, b histogram.Bucket) int { return a.Index - b.Index }) {
		t.Fatalf("buckets %v: want them sorted", got.Buckets)
	}
}

// TestCumulativeIsTheNaiveModel runs random work through random restarts, and reads
// throughout.
func TestCumulativeIsTheNaiveModel(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 11))
		m := New(0, 5*time.Second)
		m.Accumulate(true, 0)
		model := naive{levels: []level{{0, 0}}}
		var starts []int64
		now := int64(0)
		pace := float64(100*ms) * math.Exp(r.Float64()*8) // up to minutes
		c := NewCumulative()
		for range 500 {
			now += int64(r.ExpFloat64() * pace)
			m.Flow(now, len(starts), r.IntN(2) == 0)
			switch {
			case r.IntN(10) == 0:
				m.Restart(now, time.Duration(r.Int64N(1000*ms)))
			case len(starts) == 0 || len(starts) < 20 && r.IntN(2) == 0:
				if r.IntN(3) == 0 {
					wait := time.Duration(1 + r.Int64()>>r.IntN(63))
					model.waits = append(model.waits, min(wait, time.Hour))
					m.Queued(int64(min(wait, time.Hour)))
				}
				starts = append(starts, now)
				m.Start(now, len(starts))
			default:
				i, o := r.IntN(len(starts)), Outcome(r.IntN(4))
				m.Done(starts[i], now, 1, o)
				if o == Success {
					model.latencies = append(model.latencies, time.Duration(now-starts[i]))
				}
				starts = slices.Delete(starts, i, i+1)
			}
			model.levels = append(model.levels, level{now, len(starts)})
			read := now + int64(r.ExpFloat64()*pace/4)
			m.CopyTo(c, read, len(starts))
			if least, most := model.peak(read-int64(PeakSpan)), model.peak(read-2*int64(PeakSpan)); c.Peak() < least ||
				c.Peak() > most {
				t.Fatalf("peak %d at %v: want %d to %d", c.Peak(), time.Duration(read), least, most)
			}
		}
		expectCounts(t, c.Latencies.Snapshot(), model.latencies)
		expectCounts(t, c.Waits.Snapshot(), model.waits)
	}
}

// The sum outlasts 64 bits of nanoseconds, which a thousand in flight use up in seven months.
func TestSumDoesNotOverflow(t *testing.T) {
	var c Counts
	for range 10 {
		c.add(math.MaxInt64)
	}
	c.add(-1)
	want := 10 * float64(math.MaxInt64) / 1e9
	if got := c.Snapshot(); math.Abs(got.Sum-want) > 1e-12*want || got.Count != 11 {
		t.Errorf("%+v: want a sum of %v", got, want)
	}
}

func TestAccumulateOnRequestOnly(t *testing.T) {
	m := New(0, time.Second)
	pass := func(now int64) {
		m.Flow(now, 0, false)
		m.Start(now, 1)
		m.Queued(ms)
		m.Flow(now+ms, 1, false)
		m.Done(now, now+ms, 1, Success)
	}
	expect := func(latencies, waits uint64, peak int) {
		t.Helper()
		c := NewCumulative()
		m.CopyTo(c, m.last, 0)
		if l, w := c.Latencies.Snapshot().Count, c.Waits.Snapshot().Count; l != latencies || w != waits ||
			c.Peak() != peak {
			t.Errorf("%d latencies, %d waits, peak %d: want %d, %d, %d", l, w, c.Peak(), latencies, waits, peak)
		}
	}
	pass(0)
	expect(0, 0, 0)
	m.Accumulate(true, 0)
	pass(10 * ms)
	expect(1, 1, 1)
	m.Accumulate(true, 0)
	pass(20 * ms)
	expect(2, 2, 1)
	m.TurnBack(-int64(time.Hour))
	pass(-int64(time.Hour))
	expect(3, 3, 1)
	if m.cumulative.peak.until > m.last+int64(PeakSpan) {
		t.Error("after the clock was turned back the span of the peak is too long")
	}
	m.Accumulate(false, 0)
	expect(0, 0, 0)
}
