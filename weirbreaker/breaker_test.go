package weirbreaker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirbreaker"
)

var errBroken = errors.New("broken")

func returning(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// TestLifeOfABreaker goes once round: closed, open, half open, open again, half open,
// closed.
func TestLifeOfABreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := weirbreaker.New(gobreaker.Settings{
			Timeout: 10 * time.Second, MaxRequests: 2,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
		})
		l := weir.Must(weir.New(weir.Config{Initial: 3, Law: law.Fixed{}, Breaker: b}))
		do := func(err error) error { return l.Do(t.Context(), returning(err)) }
		is := func(want gobreaker.State) {
			t.Helper()
			if got := b.State(); got != want {
				t.Errorf("breaker is %v, want %v", got, want)
			}
		}

		for _, err := range []error{errBroken, context.DeadlineExceeded, context.Canceled} {
			_ = do(err)
		}
		is(gobreaker.StateClosed) // what the caller cancelled does not count
		_ = do(errBroken)
		is(gobreaker.StateOpen)
		if err := do(nil); !errors.Is(err, weir.ErrBreakerOpen) {
			t.Errorf("got %v", err)
		}
		if n := l.Snapshot().Refused[weir.ReasonBreakerOpen]; n != 1 {
			t.Errorf("%d refused", n)
		}

		time.Sleep(10*time.Second + 1)
		is(gobreaker.StateHalfOpen)
		_ = do(errBroken)
		is(gobreaker.StateOpen)

		time.Sleep(10*time.Second + 1)
		var probes sync.WaitGroup
		for range 2 {
			probes.Go(func() {
				err := l.Do(t.Context(), func(context.Context) error {
					time.Sleep(time.Second)
					return nil
				})
				if err != nil {
					t.Errorf("a probe: %v", err)
				}
			})
		}
		synctest.Wait()
		if err := do(nil); !errors.Is(err, weir.ErrBreakerOpen) {
			t.Errorf("a third probe: %v", err)
		}
		if n := l.Snapshot().InFlight; n != 2 {
			t.Errorf("%d probes in the limiter", n)
		}
		probes.Wait()
		is(gobreaker.StateClosed)
	})
}

// TestProbesAreNotUsedUp by work that the limiter refused or whose caller left.
func TestProbesAreNotUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := weirbreaker.New(gobreaker.Settings{
			Timeout: time.Second, ReadyToTrip: func(gobreaker.Counts) bool { return true },
		})
		l := weir.Must(weir.New(weir.Config{Initial: 1, Law: law.Fixed{}, Breaker: b}))
		slow := must.Have(l.Acquire(t.Context()))(t)
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrLimitReached) {
			t.Error(err)
		}
		// Another user of the breaker trips it.
		tell := must.Have(b.Allow(t.Context()))(t)
		tell(weir.Timeout)
		time.Sleep(time.Second + 1)
		for range 5 {
			if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrLimitReached) {
				t.Errorf("got %v", err)
			}
		}
		slow.Done(errBroken) // of the time before: no answer to a probe
		if got := b.State(); got != gobreaker.StateHalfOpen {
			t.Errorf("breaker is %v", got)
		}
		if err := l.Do(t.Context(), returning(nil)); err != nil {
			t.Errorf("the probe: %v", err)
		}
		if got := b.State(); got != gobreaker.StateClosed {
			t.Errorf("breaker is %v", got)
		}
	})
}
