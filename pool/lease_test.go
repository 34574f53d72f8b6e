package pool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a lease whose extension takes a second, whatever becomes of its task.
type slow struct{ Lease }

func (slow) Extend(context.Context) error { time.Sleep(time.Second); return nil }

// A lease that is settled while it is extended keeps no timer, and with it its task, for its time.
func TestSettledWhileItIsExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, lose := context.WithCancelCause(t.Context())
		l := &lease{Lease: slow{}, length: 3 * time.Hour, lose: lose}
		l.hold(ctx)
		time.Sleep(time.Hour + time.Second/2)
		if err := l.settle(ctx, time.Second, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if l.over.Stop() {
			t.Error("the timer of the lease still runs")
		}
	})
}
