package throttle_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/throttle"
)

// The floor is that of the limiter's benchmark: the least that anything which caps
// concurrency and measures latency has to do.
type floor struct{ inflight atomic.Int64 }

var (
	epoch = time.Now()
	sink  atomic.Int64
)

func (f *floor) pass() {
	f.add(1)
	began := time.Since(epoch)
	sink.Store(int64(time.Since(epoch) - began))
	f.add(-1)
}

func (f *floor) add(delta int64) {
	for {
		n := f.inflight.Load()
		if f.inflight.CompareAndSwap(n, n+delta) {
			return
		}
	}
}

// BenchmarkAcquire prints an operation that nothing throttles as a multiple of the floor, measured
// in turn with it. It compares the first quartiles of a hundred turns, because others on the
// machine lengthen some.
//
//	go test -run '^$' -bench Acquire -cpu 1,2 -count 5 ./throttle
func BenchmarkAcquire(b *testing.B) {
	ctx := context.Background()
	th := must.Have(throttle.New(throttle.Config{}))(b)
	off := must.Have(throttle.New(throttle.Config{Off: true}))(b)
	for _, way := range []struct {
		name string
		th   *throttle.Throttle
		cost int
		end  func(context.Context, *throttle.Throttle, int)
	}{
		{"cost=1", th, 1, operation},
		{"cost=7", th, 7, operation},
		{"off", off, 1, operation},
		{"cost=1,Done", th, 1, ended},
		{"cost=7,Done", th, 7, ended},
	} {
		pass := func() { way.end(ctx, way.th, way.cost) }
		for _, goroutines := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", way.name, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				f := &floor{}
				const turns = 100
				n := max(1, b.N/turns)
				var ours, theirs [turns]time.Duration
				for turn := range turns {
					if turn%2 == 0 {
						theirs[turn] = timed(goroutines, n, f.pass)
						ours[turn] = timed(goroutines, n, pass)
					} else {
						ours[turn] = timed(goroutines, n, pass)
						theirs[turn] = timed(goroutines, n, f.pass)
					}
				}
				slices.Sort(ours[:])
				slices.Sort(theirs[:])
				quartile := turns / 4
				b.ReportMetric(float64(theirs[quartile].Nanoseconds())/float64(n), "floor-ns")
				b.ReportMetric(float64(ours[quartile])/float64(theirs[quartile]), "x/floor")
			})
		}
	}
}

func operation(ctx context.Context, th *throttle.Throttle, cost int) {
	op, err := th.Acquire(ctx, throttle.Write, cost)
	defer op.DoneWith(&err)
}

// ended is an operation that gives back with Done, which needs no defer.
func ended(ctx context.Context, th *throttle.Throttle, cost int) {
	op, err := th.Acquire(ctx, throttle.Write, cost)
	op.Done(err)
}

// timed runs pass n times, spread over the goroutines.
func timed(goroutines, n int, pass func()) time.Duration {
	var done sync.WaitGroup
	began := time.Now()
	for range goroutines {
		done.Go(func() {
			for range n / goroutines {
				pass()
			}
		})
	}
	done.Wait()
	return time.Since(began)
}

func TestAllocations(t *testing.T) {
	th := must.Have(throttle.New(throttle.Config{}))(t)
	for _, cost := range []int{1, 7} {
		for range 1000 {
			operation(t.Context(), th, cost)
		}
		if got := testing.AllocsPerRun(1000, func() { operation(t.Context(), th, cost) }); got != 0 {
			t.Errorf("cost %d: %v allocations", cost, got)
		}
	}
}
