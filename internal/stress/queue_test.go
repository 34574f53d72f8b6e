package stress

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
)

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
