package stress

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/law"
)

// Copies on many goroutines measure, reweigh and give back, in any order: the limiter and the
// breaker get each outcome once, and each permit is back once.
func TestCopiesInAnyOrder(t *testing.T) {
	const work, each = 300, 8
	b := &counting{}
	l := weir.Must(weir.New(weir.Config{
		Initial: 50, Max: 10_000, Law: law.Fixed{}, Breaker: b,
		Queue: weir.Queue{Size: work, Timeout: time.Hour},
	}))
	var all sync.WaitGroup
	for i := range work {
		all.Go(func() {
			permit, err := l.AcquireN(t.Context(), 1+i%3)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range each {
				twin := permit
				all.Go(func() {
					switch (i + k) % each {
					case 0:
						twin.Measure(weir.Ignore)
					case 1:
						if err := twin.SetWeight(1 + i%5); err != nil {
							t.Error(err)
						}
					case 2:
						twin.Done(errors.New("boom"))
					case 3:
						twin.Measure(weir.Success)
					case 4:
						twin.Release()
					case 5:
						_ = twin.Waited()
					case 6:
						twin.DoneWith(nil)
					case 7:
						twin.Finish(weir.Failure)
					}
				})
			}
		})
	}
	all.Wait()
	s := l.Snapshot()
	limittest.Balanced(t, s)
	if s.Completed != work || s.Succeeded+s.Failed+s.Ignored != work {
		t.Errorf("not heard of each: %v", l)
	}
	if told := b.failed + b.succeeded + b.ignored; told != b.allowed || b.failed != s.Failed || b.succeeded != s.Succeeded {
		t.Errorf("the breaker heard of %d of %d, the limiter counted %v", told, b.allowed, l)
	}
}

// counting is a breaker that allows all, and counts.
type counting struct {
	mu                                  sync.Mutex
	allowed, succeeded, failed, ignored uint64
}

func (b *counting) Allow(context.Context) (func(weir.Outcome), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed++
	return func(o weir.Outcome) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch o {
		case weir.Success:
			b.succeeded++
		case weir.Failure:
			b.failed++
		default:
			b.ignored++
		}
	}, nil
}

// A hundred thousand callers, each a tenant of its own, wait for a key or for the cap over all
// keys, and leave again. They leave nothing behind, neither a waiter nor memory.
func TestCancelledWaitersLeaveNothing(t *testing.T) {
	batches := 50
	if race.Enabled {
		batches = 5
	}
	const batch = 1000
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := limittest.Key(100, batch, time.Hour)
				c.Config.Queue.Discipline, c.Config.Queue.Tenants = d, 64
				s := limittest.NewSet(t, bulkhead.Config{Max: 500, Default: c})
				keys := []string{"a", "b", "c", "d", "e", "f", "g"}
				var held []weir.Permit
				for _, key := range keys[:5] { // the last two wait for the cap
					held = append(held, limittest.Hold(t, s, key, 100)...)
				}
				crowd := func(number int) {
					ctx, cancel := context.WithCancel(t.Context())
					for i := range batch {
						ctx := weir.WithTenant(weir.WithPriority(ctx, weir.Priority(i%4)-2), fmt.Sprint(number, i))
						go func() {
							if _, err := s.Acquire(ctx, keys[i%len(keys)]); !errors.Is(err, context.Canceled) {
								t.Error(err)
							}
						}()
					}
					synctest.Wait()
					if n := s.Snapshot().Total.Queued; n != batch {
						t.Errorf("%d wait, want %d", n, batch)
					}
					cancel()
					synctest.Wait()
				}
				crowd(0) // the runtime keeps goroutines
				before := limittest.Heap()
				for number := range batches {
					crowd(1 + number)
				}
				if grown := limittest.Heap() - before; grown > 1<<20 && !race.Enabled { // 20 bytes for each waiter
					t.Errorf("%d bytes more than before", grown)
				}
				if total := s.Snapshot().Total; total.Cancelled != uint64((1+batches)*batch) {
					t.Errorf("%d cancelled", total.Cancelled)
				}
				for _, permit := range held {
					permit.Release()
				}
				limittest.Balanced(t, s.Snapshot().Total)
			})
		})
	}
}

// Updates at the same time leave one of the configurations, not a mixture, at every moment.
func TestUpdatesAreWhole(t *testing.T) {
	l := weir.Must(weir.New(weir.Config{Name: "a", Max: 10}))
	for range 10_000 {
		var all sync.WaitGroup
		all.Go(func() { _ = l.Update(weir.Config{Name: "a", Max: 10}) })
		all.Go(func() { _ = l.Update(weir.Config{Name: "b", Max: 20}) })
		all.Go(func() {
			if c := l.Config(); (c.Name == "a") != (c.Max == 10) {
				t.Errorf("%q with Max %d", c.Name, c.Max)
			}
		})
		all.Wait()
		if s := l.Snapshot(); (s.Name == "a") != (s.Max == 10) {
			t.Fatalf("name %q with maximum %d", s.Name, s.Max)
		}
	}
}
