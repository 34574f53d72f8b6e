package weir_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// Work so slow that hardly any ends within the look-back must not freeze the limit at the
// worst moment: all the evidence is for a cut.
func TestVerySlowWorkCutsTheLimit(t *testing.T) {
	for _, latency := range []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, weir.Config{Law: band})
			end := time.Now().Add(40 * time.Minute)
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					for time.Now().Before(end) {
						if p, ok := l.TryAcquire(t.Context()); ok {
							time.Sleep(latency)
							p.Done(nil)
						} else {
							time.Sleep(time.Second)
						}
					}
				})
			}
			callers.Wait()
			if s := l.Snapshot(); s.Limit != 1 {
				t.Errorf("latency %v: limit %d, last changed for %v", latency, s.Limit, s.Last)
			}
		})
	}
}

// Nothing at all ends.
func TestStuckWorkCutsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Initial: 10, Law: band})
		held := hold(t, l, 10)
		for range 30 {
			time.Sleep(time.Second)
			_, _ = l.TryAcquire(t.Context())
		}
		if s := l.Snapshot(); s.Limit >= 10 || !strings.Contains(s.Last.String(), "oldest work") {
			t.Errorf("limit %d, last changed for %v", s.Limit, s.Last)
		}
		for _, p := range held {
			p.Done(nil)
		}
	})
}

// A waiter under the adaptive discipline is answered in time even without any other call to
// the limiter.
func TestAdaptiveWaitersExpireAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Initial: 1, Law: law.Fixed{},
			Queue: weir.Queue{Discipline: weir.Adaptive, Timeout: 10 * time.Second},
		})
		load(t.Context(), l, 1, time.Second, always(10*time.Millisecond))
		hold(t, l, 1)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, weir.ErrDeadline) || ctx.Err() != nil {
			t.Errorf("with a deadline: %v, want a refusal before it passes", err)
		}
		began := time.Now()
		_, err := l.Acquire(t.Context())
		if waited := time.Since(began); !errors.Is(err, weir.ErrQueueTimeout) || waited > 10*time.Second+time.Millisecond {
			t.Errorf("without a deadline: %v after %v, want a queue timeout", err, waited)
		}
	})
}

// An execution timeout names the limiter's own time, not that of one around it.
func TestNestedTimeoutsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := newLimiter(t, weir.Config{Timeout: 20 * time.Millisecond})
		inner := newLimiter(t, weir.Config{Timeout: 10 * time.Second})
		err := outer.Do(t.Context(), func(ctx context.Context) error {
			return inner.Do(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
		})
		if !errors.Is(err, weir.ErrExecutionTimeout) || !strings.Contains(err.Error(), "20ms") ||
			strings.Contains(err.Error(), "10s") {
			t.Errorf("%v: want an execution timeout after 20ms", err)
		}
	})
}
