package stress

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
)

// A hundred thousand callers, each a tenant of its own, queue and leave again. They leave
// nothing behind, neither a waiter nor memory.
func TestCancelledWaitersLeaveNothing(t *testing.T) {
	batches := 100
	if race.Enabled {
		batches = 10
	}
	const batch = 1000
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limittest.Fixed(t, 500, weir.Queue{Size: batch, Timeout: time.Hour, Discipline: d, Tenants: 64})
				empty := limittest.Fill(t, l)
				crowd := func(number int) {
					ctx, cancel := context.WithCancel(t.Context())
					for i := range batch {
						ctx := weir.WithTenant(weir.WithPriority(ctx, weir.Priority(i%4)-2), fmt.Sprint(number, i))
						go func() {
							if _, err := l.Acquire(ctx); !errors.Is(err, context.Canceled) {
								t.Error(err)
							}
						}()
					}
					synctest.Wait()
					if n := l.Snapshot().Queued; n != batch {
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
				grown := limittest.Heap() - before
				if s := l.Snapshot(); s.Queued != 0 || s.Cancelled != uint64((1+batches)*batch) {
					t.Errorf("%d queued and %d cancelled", s.Queued, s.Cancelled)
				}
				if grown > 256<<10 && !race.Enabled {
					t.Errorf("%d bytes more than before", grown)
				}
				empty()
				limittest.Balanced(t, l.Snapshot())
			})
		})
	}
}
