package bulkhead_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/race"
)

// Equal keys have equal slots however many callers each has, also one with no more callers
// than slots: a slot that it gives back is not lent before its caller could come again. Other
// processors may wake a borrower before the race detector lets the caller come, so there is one.
func TestSharesDoNotDependOnCallers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, slots := range []int{3, 9, 12} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lasting, took = 20 * time.Second, 10 * time.Millisecond
				s := newSet(t, bulkhead.Config{Max: slots, Default: open(0, 1)})
				var all sync.WaitGroup
				end := time.Now().Add(lasting)
				for i, callers := range []int{40, 10, 4} {
					for range callers {
						all.Go(func() {
							for time.Now().Before(end) {
								_ = s.Do(context.Background(), fmt.Sprint(i), work(took))
							}
						})
					}
				}
				all.Wait()
				entitled := float64(slots) / 3
				for key, k := range s.Snapshot().ByKey {
					held := float64(k.Completed) * took.Seconds() / lasting.Seconds()
					if key != bulkhead.Overflow && (held < 0.95*entitled || held > 1.05*entitled) {
						t.Errorf("key %s ran %.2f at once: want %.0f within 5%%", key, held, entitled)
					}
				}
			})
		})
	}
}

func TestCapDoesNotAllocate(t *testing.T) {
	race.Skip(t, "the race detector allocates")
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"a": open(1, 1)}})
	pass := func() {
		if permit, err := s.TryAcquire(context.Background(), "a"); err == nil {
			permit.Done(nil)
		}
	}
	pass()
	if n := testing.AllocsPerRun(1000, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
