package bench

import (
	"context"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
)

var realClock = flag.Bool("real", false, "run TestIsolationOnTheRealClock")

// work waits for the given time, or until the context ends.
func work(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A backend is a pool of connections that both keys share.
type backend chan struct{}

func (b backend) call(ctx context.Context, d time.Duration) error {
	select {
	case b <- struct{}{}:
		defer func() { <-b }()
		return work(ctx, d)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestIsolationOnTheRealClock repeats the first of the seed's tests with real time, over
// one pool of connections, and compares checkout's p95 under the flood with its p95 alone.
// Each repeat runs the two next to each other. It is not part of a usual run, for it
// measures the machine as well.
//
//	go test -run IsolationOnTheRealClock -v ./internal/bench -real
func TestIsolationOnTheRealClock(t *testing.T) {
	if !*realClock {
		t.Skip("needs -real")
	}
	for _, c := range []struct {
		name         string
		capped, pool int
		flood        int
	}{
		{"no cap", 0, 7, 50},
		{"capped", 7, 7, 50},
		{"capped, at a hundred times a share", 7, 7, 200},
		{"without a bulkhead", -1, 7, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			const repeats = 20
			var alone, flooded []time.Duration
			failed := 0
			for range repeats {
				a, _ := checkoutP95(t, c.capped, c.pool, 0)
				f, lost := checkoutP95(t, c.capped, c.pool, c.flood)
				alone, flooded, failed = append(alone, a), append(flooded, f), failed+lost
			}
			slices.Sort(alone)
			slices.Sort(flooded)
			a, f := alone[repeats/2], flooded[repeats/2]
			t.Logf("checkout's p95, median of %d: alone %v, flooded %v (%+.1f%%); %d of %d failed",
				repeats, a, f, 100*(float64(f)/float64(a)-1), failed, repeats*20)
			if c.capped >= 0 && (failed > 0 || float64(f) > 1.1*float64(a)) {
				t.Error("want no failure, and at most 10% more")
			}
		})
	}
}

// checkoutP95 has checkout do its 20 pieces of work, in four batches, while search is
// flooded.
func checkoutP95(t *testing.T, capped, pool, flood int) (p95 time.Duration, failed int) {
	search, checkout := limittest.Key(2, 2, 50*time.Millisecond), limittest.Key(5, 10, 200*time.Millisecond)
	if capped > 0 {
		checkout.Reserved, search.Config.Initial = 5, capped
	}
	if capped < 0 {
		search, checkout = limittest.Key(1000, 0, 0), limittest.Key(1000, 0, 0)
	}
	s := limittest.NewSet(t, bulkhead.Config{
		Max:   max(0, capped),
		ByKey: map[string]bulkhead.Compartment{"search": search, "checkout": checkout},
	})
	shared := make(backend, pool)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var all sync.WaitGroup
	var arrived sync.WaitGroup
	arrived.Add(flood)
	for range flood {
		all.Go(func() {
			arrived.Done()
			_ = s.Do(ctx, "search", func(ctx context.Context) error { return shared.call(ctx, 200*time.Millisecond) })
		})
	}
	arrived.Wait()
	var mu sync.Mutex
	var took []time.Duration
	for batch := range 4 {
		for range 5 {
			all.Go(func() {
				_ = work(ctx, time.Duration(batch)*15*time.Millisecond)
				began := time.Now()
				err := s.Do(ctx, "checkout", func(ctx context.Context) error {
					return shared.call(ctx, 10*time.Millisecond)
				})
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
				if err != nil {
					failed++
				}
			})
		}
	}
	all.Wait()
	slices.Sort(took)
	return took[18], failed // the 19th of 20
}
