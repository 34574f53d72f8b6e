package weir_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// TestCollapse: a server must come back from a pause, although its work takes longer the more of it
// runs and all callers leave after 200 ms.
func TestCollapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := weir.Must(weir.New(weir.Config{Initial: 100}))
		var running, good atomic.Int64
		var paused atomic.Bool
		server := func(ctx context.Context) error {
			n := time.Duration(running.Add(1))
			defer running.Add(-1)
			work := 10 * time.Millisecond * max(1, n*n/100)
			if paused.Load() {
				work = time.Hour
			}
			select {
			case <-time.After(work):
				good.Add(1)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		send := func(during time.Duration) int64 { // 400 calls a second
			before := good.Load()
			for range during / (2500 * time.Microsecond) {
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(200*time.Millisecond, leave)
				go func() {
					if err := l.Do(ctx, server); err != nil && !errors.Is(err, weir.ErrRefused) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
				time.Sleep(2500 * time.Microsecond)
			}
			return good.Load() - before
		}
		if n := send(10 * time.Second); n < 3950 {
			t.Fatalf("%d of 4000 calls before the pause", n)
		}
		paused.Store(true)
		send(2 * time.Second)
		paused.Store(false)
		send(10 * time.Second)
		if n := send(10 * time.Second); n < 3900 {
			t.Errorf("%d of 4000 calls after the pause, with a limit of %d", n, l.Snapshot().Limit)
		}
		time.Sleep(time.Second)
		balanced(t, l)
	})
}
