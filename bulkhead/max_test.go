package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

// open are the settings of a key that only the cap holds back.
func open(reserved int, share float64) bulkhead.Compartment {
	c := fixed(1000, 100, time.Minute)
	c.Reserved, c.Share = reserved, share
	return c
}

func setMax(t testing.TB, s *bulkhead.Set, slots int) {
	t.Helper()
	if err := s.SetMax(slots); err != nil {
		t.Fatal(err)
	}
}

func giveBack(permits []weir.Permit) {
	for _, p := range permits {
		p.Done(nil)
	}
}

func TestMaxMovesWhileItIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Max: 4, ByKey: byKey{"a": open(0, 1), "b": open(0, 1)}})
		held := hold(t, s, "a", 4)
		first, second := ask(t.Context(), s, "a"), ask(t.Context(), s, "b")
		setMax(t, s, 1)
		giveBack(held[:3])
		waits(t, first)
		waits(t, second)
		if snap := s.Snapshot(); snap.Max != 1 || snap.Total.InFlight != 1 || snap.Total.Queued != 2 {
			t.Errorf("%+v", snap)
		}
		setMax(t, s, 3)
		giveBack([]weir.Permit{admitted(t, first), admitted(t, second), held[3]})
		balanced(t, s)
	})
}

// A cap of 0 lets nothing start: work without a queue is refused, and work with one waits.
func TestMaxOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Max: 4, ByKey: byKey{"waits": open(2, 1), "refused": fixed(5, 0, 0)}})
		running := hold(t, s, "waits", 1)
		setMax(t, s, 0)
		if _, err := s.Acquire(t.Context(), "refused"); !errors.Is(err, weir.ErrLimitReached) {
			t.Error(err)
		}
		if _, ok := s.TryAcquire(t.Context(), "waits"); ok {
			t.Error("admitted above a cap of 0")
		}
		waiting := ask(t.Context(), s, "waits")
		giveBack(running)
		waits(t, waiting)
		if k := s.Snapshot().ByKey["waits"]; k.Reserved != 0 || k.Entitled != 0 {
			t.Errorf("%+v", k)
		}
		setMax(t, s, 4)
		if k := s.Snapshot().ByKey["waits"]; k.Reserved != 2 {
			t.Errorf("%d reserved, want 2 again", k.Reserved)
		}
		giveBack([]weir.Permit{admitted(t, waiting)})
		balanced(t, s)
	})
}

func TestReservesYieldToMax(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 20, ByKey: byKey{"a": open(8, 1), "b": open(4, 1), "c": open(0, 1)}})
	for _, c := range []struct{ slots, a, b int }{
		{12, 8, 4}, {11, 7, 3}, {3, 2, 1}, {6, 4, 2}, {2, 1, 0}, {0, 0, 0}, {1, 0, 0}, {100, 8, 4},
	} {
		setMax(t, s, c.slots)
		snap := s.Snapshot()
		if a, b := snap.ByKey["a"].Reserved, snap.ByKey["b"].Reserved; snap.Max != c.slots || a != c.a || b != c.b {
			t.Errorf("of %d slots %d and %d are reserved, want %d and %d", c.slots, a, b, c.a, c.b)
		}
	}
	setMax(t, s, 5)
	if err := s.Update(bulkhead.Config{Max: 13, ByKey: byKey{"a": open(1, 1), "c": open(12, 1)}}); err != nil {
		t.Fatal(err)
	}
	snap := s.Snapshot()
	if a, c := snap.ByKey["a"].Reserved, snap.ByKey["c"].Reserved; snap.Max != 13 || a != 1 || c != 12 {
		t.Errorf("after an update of %d slots %d and %d are reserved, want 13, 1 and 12", snap.Max, a, c)
	}
}

func TestMaxOutOfRange(t *testing.T) {
	s, none := newSet(t, bulkhead.Config{Max: 4}), newSet(t, bulkhead.Config{})
	for want, err := range map[string]error{
		"weir: invalid configuration: bulkhead: SetMax of -1: want 0 to 1000000000":                              s.SetMax(-1),
		"weir: invalid configuration: bulkhead: SetMax of 1000000001: want 0 to 1000000000":                      s.SetMax(1_000_000_001),
		"weir: invalid configuration: bulkhead: SetMax of a set without a cap: make one with Config.Max above 0": none.SetMax(1),
	} {
		if !errors.Is(err, weir.ErrConfig) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if snap := s.Snapshot(); snap.Max != 4 {
		t.Errorf("the cap is %d", snap.Max)
	}
}

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

// An adaptive key that is held back by the cap alone learns nothing of higher limits.
func TestCapDoesNotRaiseLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := bulkhead.Compartment{Config: weir.Config{
			Initial: 10, Law: law.Band{Target: time.Second}, Queue: weir.Queue{Size: 100},
		}}
		limit := func(capped int) int {
			s := newSet(t, bulkhead.Config{Max: capped, ByKey: byKey{"a": key}})
			var all sync.WaitGroup
			end := time.Now().Add(5 * time.Second)
			for range 20 {
				all.Go(func() {
					for time.Now().Before(end) {
						_ = s.Do(t.Context(), "a", work(20*time.Millisecond))
					}
				})
			}
			all.Wait()
			return s.Snapshot().ByKey["a"].Limit
		}
		if alone := limit(0); alone <= 10 {
			t.Errorf("without a cap: limit %d, want it raised", alone)
		}
		if capped := limit(5); capped != 10 {
			t.Errorf("under a cap of 5: limit %d, want 10", capped)
		}
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

// Many callers, with updates, evictions and a moving cap mixed in: the cap holds at every
// moment, and in the end all is back.
func TestMaxUnderStress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, keys = 8, 5
		table := func(flip int) bulkhead.Config {
			c := bulkhead.Config{Max: slots, MaxKeys: 2, Default: open(0, 5), ByKey: byKey{}}
			for i := range keys {
				c.ByKey[fmt.Sprint(i)] = open((i+flip)%2, float64(1+i))
			}
			return c
		}
		s := newSet(t, table(0))
		var all sync.WaitGroup
		var inFlight atomic.Int64
		for caller := range 60 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(caller)))
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(500))*time.Millisecond)
					key, weight := fmt.Sprint(r.IntN(keys+3)), 1+r.IntN(3)
					permit, err := s.AcquireN(ctx, key, weight)
					time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
					if err == nil {
						if n := inFlight.Add(int64(weight)); n > slots { // a snapshot of several keys is not exact
							t.Errorf("%d in flight", n)
						}
						time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
						inFlight.Add(-int64(weight))
						permit.Done(nil)
					}
					cancel()
				}
			})
		}
		all.Go(func() {
			for i := range 60 {
				time.Sleep(5 * time.Millisecond)
				setMax(t, s, i*7%(slots+1))
				if i%10 == 9 {
					if err := s.Update(table(i)); err != nil {
						t.Error(err)
					}
				}
			}
			setMax(t, s, slots)
		})
		all.Wait()
		balanced(t, s)
		giveBack(hold(t, s, "1", slots-3)) // three are reserved for others
	})
}
