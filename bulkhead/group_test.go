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

func TestOwnerGetsBackWhatWasBorrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"search": open(0, 1), "checkout": open(2, 3)}})
		borrowed := hold(t, s, "search", 8)
		more := ask(t.Context(), s, "search")
		own := hold(t, s, "checkout", 2)
		back := ask(t.Context(), s, "checkout")
		waits(t, back)
		time.Sleep(time.Second)
		snap := s.Snapshot()
		if k := snap.ByKey["checkout"]; k.InFlight != 2 || k.Queued != 1 || k.Reserved != 2 || k.Share != 3 ||
			k.Entitled != 8 {
			t.Errorf("checkout: %+v", k)
		}
		if k := snap.ByKey["search"]; k.Entitled != 2 || k.Borrowed != 6 || k.Share != 1 {
			t.Errorf("search: %+v", k)
		}
		borrowed[0].Done(nil)
		admitted(t, back).Done(nil)
		admitted(t, more).Done(nil)
		if k := s.Snapshot().ByKey["checkout"]; k.GroupWait == 0 || k.QueueWait != 0 {
			t.Errorf("waited %v for the cap and %v for the limit", k.GroupWait, k.QueueWait)
		}
		giveBack(append(borrowed, own...))
		balanced(t, s)
	})
}

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
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
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
