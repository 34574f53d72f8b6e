package bulkhead_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// Five properties of compartments,
// by figures.

// TestOneKeyOverloadedLeavesTheOtherAlone: search is flooded with 50 requests of
// 200 ms, checkout gets 20 of 10 ms, in four batches 15 ms apart, and takes exactly as
// long as by itself. With a cap over both it is the same, also when search wants a
// hundred times its share.
func TestOneKeyOverloadedLeavesTheOtherAlone(t *testing.T) {
	for name, c := range map[string]struct {
		capped int
		flood  int
	}{
		"no cap":                             {0, 50},
		"capped":                             {7, 50},
		"capped, at a hundred times a share": {7, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				search, checkout := fixed(2, 2, 50*time.Millisecond), fixed(5, 10, 200*time.Millisecond)
				if c.capped > 0 {
					checkout.Reserved = 5
					search.Config.Initial = c.capped // borrows all that is left
				}
				s := newSet(t, bulkhead.Config{
					Max:   c.capped,
					ByKey: map[string]bulkhead.Compartment{"search": search, "checkout": checkout},
				})
				var all sync.WaitGroup
				for range c.flood {
					all.Go(func() { _ = s.Do(t.Context(), "search", work(200*time.Millisecond)) })
				}
				synctest.Wait()
				for batch := range 4 {
					for range 5 {
						all.Go(func() {
							time.Sleep(time.Duration(batch) * 15 * time.Millisecond)
							began := time.Now()
							if err := s.Do(t.Context(), "checkout", work(10*time.Millisecond)); err != nil {
								t.Error(err)
							}
							if took := time.Since(began); took != 10*time.Millisecond {
								t.Errorf("checkout took %v, alone it takes 10ms", took)
							}
						})
					}
				}
				all.Wait()
				snap := s.Snapshot()
				a, b := snap.ByKey["search"], snap.ByKey["checkout"]
				if a.Refused[weir.ReasonQueueFull] != uint64(c.flood-4) || a.Refused[weir.ReasonQueueTimeout] != 2 ||
					a.Completed != 2 {
					t.Errorf("search: %v", a.Refused)
				}
				if b.RefusedTotal() != 0 || b.Completed != 20 || b.QueueWait != 0 {
					t.Errorf("checkout: %+v", b)
				}
				if snap.Total.Completed != 22 || snap.Total.RefusedTotal() != a.RefusedTotal() {
					t.Errorf("total: %+v", snap.Total)
				}
				balanced(t, s)
			})
		})
	}
}

func TestHardCapOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(3, 30, time.Minute)})
		var all sync.WaitGroup
		var mu sync.Mutex
		running, most := 0, 0
		for range 30 {
			all.Go(func() {
				err := s.Do(t.Context(), "checkout", func(ctx context.Context) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					err := work(10 * time.Millisecond)(ctx)
					mu.Lock()
					running--
					mu.Unlock()
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most != 3 {
			t.Errorf("%d ran at once, want 3", most)
		}
		balanced(t, s)
	})
}

func TestQueueTimeoutOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 1, 20*time.Millisecond)})
		held := hold(t, s, "search", 1)
		second, third := ask(t.Context(), s, "search"), ask(t.Context(), s, "search")
		if err := refused(t, third); !errors.Is(err, weir.ErrQueueFull) {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
		err := refused(t, second)
		var why *weir.RefusedError
		if !errors.Is(err, weir.ErrQueueTimeout) || !errors.As(err, &why) || why.Limiter != "search" {
			t.Error(err)
		}
		held[0].Done(nil)
		balanced(t, s)
		if n := s.Snapshot().ByKey["search"].Admitted; n != 1 {
			t.Errorf("%d ran, want 1", n)
		}
	})
}

func TestWhoLeavesTheQueueNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 10, time.Minute)})
		held := hold(t, s, "search", 1)
		ctx, cancel := context.WithCancel(t.Context())
		waiting := ask(ctx, s, "search")
		if n := s.Snapshot().ByKey["search"].Queued; n != 1 {
			t.Errorf("%d queued", n)
		}
		cancel()
		if err := refused(t, waiting); !errors.Is(err, context.Canceled) || errors.Is(err, weir.ErrRefused) {
			t.Error(err)
		}
		if k := s.Snapshot().ByKey["search"]; k.Queued != 0 || k.Cancelled != 1 {
			t.Errorf("%+v", k)
		}
		held[0].Done(nil)
		if n := s.Snapshot().ByKey["search"].Admitted; n != 1 {
			t.Errorf("%d ran, want 1", n)
		}
	})
}

func TestFirstInFirstOutWithinAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 10, time.Minute)})
		held := hold(t, s, "search", 1)
		var all sync.WaitGroup
		var order []int
		for i := range 5 {
			all.Go(func() {
				_ = s.Do(t.Context(), "search", func(context.Context) error {
					order = append(order, i)
					return nil
				})
			})
			synctest.Wait()
		}
		held[0].Done(nil)
		all.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("ran in the order %v", order)
		}
	})
}
