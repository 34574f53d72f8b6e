package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		began := time.Now()
		source := sourcetest.NewMemory(time.Minute, []pool.Task{
			task("long", time.Hour, nil), // is extended
			{Key: "again", Run: func(context.Context) (any, error) {
				if tries++; tries < 3 {
					return nil, errTask
				}
				return nil, nil
			}},
			{Key: "bad", Run: func(context.Context) (any, error) { time.Sleep(time.Millisecond); return nil, pool.Permanent(errTask) }},
		})
		r := run(t, pool.Config{Capacity: slots(2), Source: source, Redeliver: time.Minute})
		r.expect(t, "again failed, bad failed, again failed, again done, long done", nil)
		if took := time.Since(began); took != time.Hour || source.Left() != 0 {
			t.Errorf("%v, %d left", took, source.Left())
		}
	})
}

func TestWhatWasCutShortIsGivenBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, []pool.Task{task("a", 1, nil), task("b", time.Hour, nil), task("c", time.Hour, nil)})
		for range must(pool.New(pool.Config{Capacity: slots(2), Source: source})).Run(t.Context()) {
			break
		}
		if d, err := source.Backlog(t.Context()); err != nil || d.Count != 2 {
			t.Errorf("%+v, %v: want b and c", d, err)
		}
	})
}

// deaf is a source whose leases cannot be extended.
type deaf struct {
	*sourcetest.Memory
	extend func() error
}

func (d deaf) Claim(ctx context.Context) (pool.Delivery, error) {
	delivery, err := d.Memory.Claim(ctx)
	if err == nil {
		delivery.Lease = deafLease{delivery.Lease, d.extend}
	}
	return delivery, err
}

type deafLease struct {
	pool.Lease
	extend func() error
}

func (l deafLease) Extend(context.Context, time.Duration) error { return l.extend() }

func TestLostLeaseEndsItsTask(t *testing.T) {
	for why, extend := range map[error]func() error{
		errTask:        func() error { return errTask },
		pool.ErrSource: func() error { panic("extend") },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			source := deaf{sourcetest.NewMemory(time.Minute, []pool.Task{task("a", time.Hour, nil)}), extend}
			for ev := range must(pool.New(pool.Config{Capacity: slots(1), Source: source})).Run(ctx) {
				if ev.Kind != pool.Failed || !errors.Is(ev.Err, pool.ErrLeaseLost) || !errors.Is(ev.Err, why) || ev.Took != 20*time.Second {
					t.Errorf("%+v", ev)
				}
				break
			}
		})
	}
}
