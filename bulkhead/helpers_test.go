package bulkhead_test

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
)

type byKey = map[string]bulkhead.Compartment

type answer = limittest.Answer

var (
	newSet   = limittest.NewSet
	fixed    = limittest.Key
	hold     = limittest.Hold
	admitted = limittest.Admitted
	waits    = limittest.Waits
)

// ask asks on a goroutine of its own and returns once that waits or has its answer.
func ask(ctx context.Context, s *bulkhead.Set, key string) <-chan answer {
	return limittest.Ask(func() (weir.Permit, error) { return s.Acquire(ctx, key) })
}

// refused returns the error of a request, which must be answered.
func refused(t testing.TB, c <-chan answer) error {
	t.Helper()
	a := limittest.Now(t, c)
	if a.Err == nil {
		t.Fatal("was admitted")
	}
	return a.Err
}

// balanced fails the test unless all that was admitted is back and no waiter is left.
func balanced(t testing.TB, s *bulkhead.Set) {
	t.Helper()
	limittest.Balanced(t, s.Snapshot().Total)
}

// leaves calls f, which has to panic or to end its goroutine.
func leaves(t *testing.T, f func()) {
	t.Helper()
	if _, returned := limittest.Unwind(f); returned {
		t.Error("it returned, and swallowed the panic or the exit")
	}
}

func update(t testing.TB, s *bulkhead.Set, c bulkhead.Config) {
	t.Helper()
	must.Do(t, s.Update(c))
}

// open returns the settings of a key that only the cap holds back.
func open(reserved int, share float64) bulkhead.Compartment {
	c := fixed(1000, 100, time.Minute)
	c.Reserved, c.Share = reserved, share
	return c
}

func giveBack(permits []weir.Permit) {
	for _, p := range permits {
		p.Done(nil)
	}
}

func setMax(t testing.TB, s *bulkhead.Set, slots int) {
	t.Helper()
	must.Do(t, s.SetMax(slots))
}

// work is a function for Do that takes so long.
func work(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
