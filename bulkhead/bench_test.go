package bulkhead_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// BenchmarkSet prints each way through a set of 1,000 keys as a multiple of the same way
// through one limiter, measured in turn with it.
//
//	go test -run '^$' -bench Set -cpu 1,2 -count 5 ./bulkhead
func BenchmarkSet(b *testing.B) {
	const keys = 1000
	limiter := weir.Config{Min: 1000}
	plain := weir.Must(weir.New(limiter))
	try := func(int) {
		if permit, ok := plain.TryAcquire(context.Background()); ok {
			permit.Done(nil)
		}
	}
	names := make([]string, keys)
	named := byKey{}
	for i := range names {
		names[i] = fmt.Sprintf("GET /resource/%d", i)
		named[names[i]] = bulkhead.Compartment{Config: limiter, Share: 1 + float64(i%3)}
	}
	for _, c := range []struct {
		name string
		conf bulkhead.Config
	}{
		{"named", bulkhead.Config{ByKey: named}},
		{"named, capped", bulkhead.Config{Max: 5000, ByKey: named}},
		{"unknown, capped", bulkhead.Config{Max: 5000, Default: bulkhead.Compartment{Config: limiter}}},
	} {
		set := newSet(b, c.conf)
		handles := make([]*bulkhead.Handle, keys)
		for i, name := range names {
			handles[i], _ = set.Handle(name)
		}
		ctx := context.Background()
		for _, way := range []struct {
			name        string
			plain, pass func(i int)
		}{
			{"TryAcquire+Done", try, func(i int) {
				if permit, ok := set.TryAcquire(context.Background(), names[i%keys]); ok {
					permit.Done(nil)
				}
			}},
			{"Acquire+Done", func(int) {
				if permit, err := plain.Acquire(ctx); err == nil {
					permit.Done(nil)
				}
			}, func(i int) {
				if permit, err := set.Acquire(ctx, names[i%keys]); err == nil {
					permit.Done(nil)
				}
			}},
			{
				"Do",
				func(int) { _ = plain.Do(ctx, func(context.Context) error { return nil }) },
				func(i int) { _ = set.Do(ctx, names[i%keys], func(context.Context) error { return nil }) },
			},
			{"handle", try, func(i int) {
				if permit, ok := handles[i%keys].TryAcquire(context.Background()); ok {
					permit.Done(nil)
				}
			}},
		} {
			for _, goroutines := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%s/goroutines=%d", c.name, way.name, goroutines), func(b *testing.B) {
					inTurn(b, goroutines, way.plain, way.pass)
				})
			}
		}
	}
}

// inTurn times pass and the floor in short turns, so that both meet the same machine, and
// reports the median of the turns' ratios, which interrupted turns do not move.
func inTurn(b *testing.B, goroutines int, floor, pass func(int)) {
	b.ReportAllocs()
	each := 1000 + 10*goroutines
	var ratios, plain []float64
	for turn := 0; turn*each < b.N; turn++ {
		var theirs, ours time.Duration
		if turn%2 == 0 {
			theirs, ours = timed(goroutines, each, floor), timed(goroutines, each, pass)
		} else {
			ours, theirs = timed(goroutines, each, pass), timed(goroutines, each, floor)
		}
		ratios = append(ratios, float64(ours)/float64(theirs))
		plain = append(plain, float64(theirs.Nanoseconds())/float64(each))
	}
	b.ReportMetric(median(plain), "plain-ns")
	b.ReportMetric(median(ratios), "x/plain")
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// timed runs pass n times, spread over the goroutines, which go round the keys from
// different places.
func timed(goroutines, n int, pass func(int)) time.Duration {
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
