package bulkhead_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

func TestCloseRefusesEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{
			Max: 10, Default: fixed(1, 2, time.Minute),
			ByKey: byKey{"named": fixed(1, 1, time.Minute)},
		})
		held := append(hold(t, s, "named", 1), hold(t, s, "known", 1)...)
		waiting := []<-chan answer{ask(t.Context(), s, "named"), ask(t.Context(), s, "known")}
		s.Close()
		s.Close()
		for _, w := range waiting {
			if err := refused(t, w); !errors.Is(err, weir.ErrClosed) {
				t.Error(err)
			}
		}
		for _, key := range []string{"named", "known", "new"} {
			_, err := s.Acquire(t.Context(), key)
			var why *weir.RefusedError
			if !errors.Is(err, weir.ErrClosed) || !errors.As(err, &why) || why.Limiter != key {
				t.Errorf("%s: %v", key, err)
			}
		}
		for _, p := range held {
			p.Done(nil)
		}
		balanced(t, s)
		if err := s.Update(bulkhead.Config{Max: 10, ByKey: byKey{"brought": fixed(1, 0, 0)}}); err != nil {
			t.Error(err)
		}
		if _, ok := s.TryAcquire(t.Context(), "brought"); ok {
			t.Error("an update opened a closed set")
		}
	})
}

func TestShutdownWaitsForEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 2, time.Minute)})
		var all sync.WaitGroup
		for _, key := range []string{"a", "b", "a", "b"} {
			all.Go(func() {
				if err := s.Do(t.Context(), key, work(time.Second)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		all.Go(func() {
			synctest.Wait()
			for _, key := range []string{"a", "b", "c"} {
				if err := s.Do(t.Context(), key, work(0)); !errors.Is(err, weir.ErrClosed) {
					t.Errorf("%s: %v", key, err)
				}
			}
		})
		if err := s.Shutdown(nil); err != nil { //nolint:staticcheck // nil is allowed
			t.Error(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		all.Wait()
		balanced(t, s)
	})
}

func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 2, time.Minute)})
		held := hold(t, s, "a", 1)
		waiting := ask(t.Context(), s, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := refused(t, waiting); !errors.Is(err, weir.ErrClosed) {
			t.Error(err)
		}
		held[0].Done(nil)
	})
}

// TestNothingLeaksFromTheQueues after 100,000 callers left them.
func TestNothingLeaksFromTheQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, callers = 100, 1000
		s := newSet(t, bulkhead.Config{Max: 5, Default: fixed(1, callers, time.Hour)})
		keys := []string{"a", "b", "c", "d", "e", "f", "g"}
		var held []weir.Permit
		for _, key := range keys[:5] { // the last two wait for the cap
			held = append(held, hold(t, s, key, 1)...)
		}
		before := int64(0)
		for round := range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					if _, err := s.Acquire(ctx, keys[i%len(keys)]); !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			cancel()
			all.Wait()
			if round == rounds/10 {
				before = heap()
			}
		}
		grown := heap() - before
		if grown > 64<<10 && !raceEnabled {
			t.Errorf("%d B more after %d cancelled callers", grown, rounds*callers)
		}
		snap := s.Snapshot()
		if snap.Total.Queued != 0 || snap.Total.Cancelled != rounds*callers {
			t.Errorf("%d queued, %d cancelled", snap.Total.Queued, snap.Total.Cancelled)
		}
		for _, p := range held {
			p.Done(nil)
		}
		balanced(t, s)
	})
}
