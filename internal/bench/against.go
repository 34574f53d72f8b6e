package bench

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Floor returns the least work of any code that caps concurrency and measures latency: a
// compare-and-swap up, one down, and two readings of a monotonic clock.
func Floor() func(int) {
	var inflight, sink atomic.Int64
	start := time.Now()
	return func(int) {
		Swap(&inflight, 1)
		began := time.Since(start)
		sink.Store(int64(time.Since(start) - began))
		Swap(&inflight, -1)
	}
}

// Swap adds to a number by compare-and-swap.
func Swap(n *atomic.Int64, delta int64) {
	for {
		before := n.Load()
		if n.CompareAndSwap(before, before+delta) {
			return
		}
	}
}

// Against times pass and another function in turns, so that both meet the same machine. It reports
// the median of the turns' ratios, which interrupted turns do not move.
func Against(b *testing.B, goroutines int, pass func(int), name string, other func(int)) {
	b.ReportAllocs()
	each := max(1000+10*goroutines, b.N/20)
	var ratios, ours, theirs []float64
	for turn := 0; turn*each < b.N; turn++ {
		var mine, its time.Duration
		if turn%2 == 0 {
			its, mine = timed(goroutines, each, other), timed(goroutines, each, pass)
		} else {
			mine, its = timed(goroutines, each, pass), timed(goroutines, each, other)
		}
		ratios = append(ratios, float64(mine)/float64(its))
		ours = append(ours, float64(mine.Nanoseconds())/float64(each))
		theirs = append(theirs, float64(its.Nanoseconds())/float64(each))
	}
	b.ReportMetric(median(theirs), name+"-ns")
	b.ReportMetric(median(ratios), "x/"+name)
	b.ReportMetric(median(ours), "ns/op")
}

// timed runs pass n times, spread over the goroutines, each of which counts from another number.
func timed(goroutines, n int, pass func(i int)) time.Duration {
	var done sync.WaitGroup
	began := time.Now()
	for g := range goroutines {
		done.Go(func() {
			for i := range n / goroutines {
				pass(g*61 + i)
			}
		})
	}
	done.Wait()
	return time.Since(began)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
