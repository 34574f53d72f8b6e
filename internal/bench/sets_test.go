package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/seam"
)

// BenchmarkSet prints each way through a set of 1,000 keys as a multiple of the same way
// through one limiter, measured in turn with it.
//
//	go test -run '^$' -bench Set -cpu 1,2 -count 5 ./internal/bench
func BenchmarkSet(b *testing.B) {
	const keys = 1000
	limiter := weir.Config{Min: 1000}
	plain := weir.Must(weir.New(limiter))
	try := func(int) {
		if permit, err := plain.TryAcquire(context.Background()); err == nil {
			permit.Done(nil)
		}
	}
	names := make([]string, keys)
	named := map[string]bulkhead.Compartment{}
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
		set := limittest.NewSet(b, c.conf)
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
				if permit, err := set.TryAcquire(context.Background(), names[i%keys]); err == nil {
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
				if permit, err := handles[i%keys].TryAcquire(context.Background()); err == nil {
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

// BenchmarkGroup passes through each limiter under a cap in turn, as a multiple of the time that
// a limiter without one takes. With their number grows how often the processor's caches miss.
//
//	go test -run '^$' -bench 'Group$' -count 5 ./internal/bench
func BenchmarkGroup(b *testing.B) {
	inside := seam.Of[*weir.Limiter, weir.Config, weir.Snapshot]()
	pass := func(l *weir.Limiter) {
		if permit, err := l.TryAcquire(context.Background()); err == nil {
			permit.Done(nil)
		}
	}
	for _, members := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("limiters=%d", members), func(b *testing.B) {
			group := admit.NewGroup(500)
			limiters := make([]*weir.Limiter, members)
			for i := range limiters {
				limiters[i] = weir.Must(inside.New(weir.Config{}, group, admit.Allocation{Share: 1}))
				pass(limiters[i]) // the first use allocates
			}
			plain := weir.Must(weir.New(weir.Config{}))
			b.ResetTimer()
			inTurn(b, 1, func(int) { pass(plain) }, func(i int) { pass(limiters[i%members]) })
		})
	}
}
