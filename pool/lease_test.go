package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
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
			{Key: "bad", Run: func(context.Context) (any, error) {
				time.Sleep(time.Millisecond)
				return nil, pool.Permanent(errTask)
			}},
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
		source := sourcetest.NewMemory(time.Minute, []pool.Task{
			task("a", 1, nil), task("b", time.Hour, nil), task("c", time.Hour, nil),
		})
		for range must.Have(pool.New(pool.Config{Capacity: slots(2), Source: source}))(t).Run(t.Context()) {
			break
		}
		if d, err := source.Backlog(t.Context()); err != nil || d.Count != 2 {
			t.Errorf("%+v, %v: want b and c", d, err)
		}
	})
}

// extending is a source whose leases are extended by the function of a test.
type extending struct {
	*sourcetest.MemorySource
	extend func(ctx context.Context, l pool.Lease) error
}

func (s extending) Claim(ctx context.Context, n int, handOn func(pool.Delivery)) error {
	return s.MemorySource.Claim(ctx, n, func(d pool.Delivery) {
		d.Lease = extendingLease{d.Lease, s.extend}
		handOn(d)
	})
}

type extendingLease struct {
	pool.Lease
	extend func(ctx context.Context, l pool.Lease) error
}

func (l extendingLease) Extend(ctx context.Context) error { return l.extend(ctx, l.Lease) }

func TestLostLeaseEndsItsTask(t *testing.T) {
	for _, test := range []struct {
		name   string
		extend func() error
		is     error
		after  time.Duration
	}{
		{"fails again and again", func() error { return errTask }, errTask, 55 * time.Second},
		{"panics", func() error { panic("extend") }, pool.ErrSource, 55 * time.Second},
		{"exits", func() error { runtime.Goexit(); return nil }, pool.ErrExited, 55 * time.Second},
		{"does not return", func() error { time.Sleep(time.Hour); return nil }, pool.ErrLeaseLost, 55 * time.Second},
		{
			"says so",
			func() error { return fmt.Errorf("another has it: %w", pool.ErrLeaseLost) },
			pool.ErrLeaseLost, 20 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := extending{
					sourcetest.NewMemory(time.Minute, []pool.Task{task("a", time.Hour, nil)}),
					func(context.Context, pool.Lease) error { return test.extend() },
				}
				for ev := range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: source}))(t).Run(t.Context()) {
					if ev.Kind != pool.Failed || !errors.Is(ev.Err, pool.ErrLeaseLost) || !errors.Is(ev.Err, test.is) ||
						ev.Took != test.after {
						t.Errorf("%+v: want it lost after %v, for %v", ev, test.after, test.is)
					}
					break
				}
				time.Sleep(time.Hour) // until it has returned
			})
		})
	}
}

// TestLeaseOutlivesAFailure: as long as the lease runs, its task does, whether calls to extend it
// fail or hang.
func TestLeaseOutlivesAFailure(t *testing.T) {
	var tries atomic.Int64
	for name, extend := range map[string]func(ctx context.Context, l pool.Lease) error{
		"two fail after each success": func(ctx context.Context, l pool.Lease) error {
			if tries.Add(1)%3 != 0 {
				return errTask
			}
			return l.Extend(ctx)
		},
		"each second one hangs": func(ctx context.Context, l pool.Lease) error {
			if tries.Add(1)%2 == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return l.Extend(ctx)
		},
		"each second one hangs for good": func(ctx context.Context, l pool.Lease) error {
			if tries.Add(1)%2 == 1 {
				time.Sleep(2 * time.Hour)
				return nil
			}
			return l.Extend(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries.Store(0)
				memory := sourcetest.NewMemory(time.Minute, []pool.Task{task("a", time.Hour, nil)})
				run(t, pool.Config{Capacity: slots(1), Source: extending{memory, extend}}).expect(t, "a done", nil)
				if memory.Left() != 0 || tries.Load() < 60 {
					t.Errorf("%d left, extended %d times", memory.Left(), tries.Load())
				}
				time.Sleep(2 * time.Hour) // until all have returned
			})
		})
	}
}

// TestShortAndLongLeases: no length of a lease keeps a processor busy or overflows.
func TestShortAndLongLeases(t *testing.T) {
	for length, kept := range map[time.Duration]bool{
		-1: true, 0: true, 1: false, 2 * time.Nanosecond: false, 3 * time.Millisecond: true,
		math.MaxInt64: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			var extended atomic.Int64
			first := true
			source := &faulty{then: func(context.Context) error { return io.EOF }}
			leased := leasing{source, func() (pool.Delivery, bool) {
				defer func() { first = false }()
				return pool.Delivery{
					Task: task("a", time.Second, nil), LeaseTime: length,
					Lease: stub{extend: func() error { extended.Add(1); return nil }},
				}, first
			}}
			want := "a done"
			if !kept {
				want = "a failed"
			}
			run(t, pool.Config{Capacity: slots(1), Source: leased}).expect(t, want, nil)
			if extended.Load() > 1000 {
				t.Errorf("a lease of %v was extended %d times in a second", length, extended.Load())
			}
		})
	}
}

// leasing is a source that delivers while there is something.
type leasing struct {
	pool.Source
	next func() (pool.Delivery, bool)
}

func (l leasing) Claim(ctx context.Context, n int, handOn func(pool.Delivery)) error {
	if d, ok := l.next(); ok {
		handOn(d)
		return nil
	}
	return l.Source.Claim(ctx, n, handOn)
}

// stub is a lease with the methods of a test, which do nothing by default.
type stub struct{ acknowledge, giveBack, extend func() error }

func (s stub) Acknowledge(context.Context) error             { return call(s.acknowledge) }
func (s stub) GiveBack(context.Context, time.Duration) error { return call(s.giveBack) }
func (s stub) Extend(context.Context) error                  { return call(s.extend) }

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}
