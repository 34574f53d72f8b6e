package limittest

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// CancelCalls makes calls from 32 callers that leave at every stage: before they are sent, in the
// queue, at work. It fails the test if slots, waiters or goroutines are left; idle closes the
// connections that none of them uses.
func CancelCalls(t testing.TB, calls int, call func(ctx context.Context, i int), idle func(), limiters ...*weir.Limiter) {
	t.Helper()
	before := runtime.NumGoroutine()
	const callers = 32
	var work sync.WaitGroup
	for caller := range callers {
		work.Go(func() {
			for i := caller; i < calls; i += callers {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*50*time.Microsecond)
				call(ctx, i)
				cancel()
			}
		})
	}
	work.Wait()
	for _, lim := range limiters {
		Idle(t, lim)
		if s := lim.Snapshot(); s.Queued != 0 || s.InFlight != 0 {
			t.Errorf("queued %d, in flight %d", s.Queued, s.InFlight)
		}
	}
	idle()
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before+8; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// Panics fails the test for each mistake of a caller that does not panic.
func Panics(t testing.TB, mistakes map[string]func()) {
	t.Helper()
	for name, mistake := range mistakes {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			mistake()
		}()
	}
}
