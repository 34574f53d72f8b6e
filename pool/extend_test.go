package pool_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// TestLeaseIsKeptInTheGrace: a task that the end of the run has cut short still has its lease, for
// as long as the run waits for it.
func TestLeaseIsKeptInTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		source := sourcetest.NewMemory(3*time.Second, []pool.Task{{Key: "a", Run: func(ctx context.Context) (any, error) {
			<-ctx.Done()
			time.Sleep(20 * time.Second)
			return nil, nil
		}}})
		time.AfterFunc(time.Second, cancel)
		for ev, err := range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: source}))(t).Run(ctx) {
			if err == nil && (ev.Kind != pool.Done || ev.Err != nil) {
				t.Errorf("%v, want it done and acknowledged", ev)
			}
		}
		if n := source.Left(); n != 0 {
			t.Errorf("%d left", n)
		}
	})
}

// extending is a source whose leases are extended by the function of a test.
func extending(source pool.Source, extend func(context.Context, pool.Lease) error) pool.Source {
	return altered{source, func(d *pool.Delivery) { d.Lease = extendingLease{d.Lease, extend} }}
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
				source := lent(stub{extend: test.extend}, time.Minute, task("a", time.Hour, nil))
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

// A run in a task that has lost its lease gives its own leases back.
func TestLostLeaseOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := sourcetest.NewMemory(time.Hour, []pool.Task{task("b", time.Hour, nil)})
		outer := lent(stub{extend: func() error { return pool.ErrLeaseLost }}, time.Minute,
			pool.Task{Key: "a", Run: func(ctx context.Context) (any, error) {
				for range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: inner}))(t).Run(ctx) {
				}
				return nil, ctx.Err()
			}})
		for range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: outer}))(t).Run(t.Context()) {
			break
		}
		if d, err := inner.Backlog(t.Context()); err != nil || d.Count != 1 {
			t.Errorf("%+v, %v: want b", d, err)
		}
	})
}

// A task that lost its lease while it waited does not start: another run may have it. The task and
// what comes after it are free for the next delivery.
func TestLeaseLostBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost atomic.Bool
		first := pool.Task{Key: "first", Run: func(context.Context) (any, error) { time.Sleep(50 * time.Second); return nil, nil }}
		next := after(task("next", time.Second, nil), "waits")
		memory := sourcetest.NewMemory(time.Minute, []pool.Task{first, task("waits", time.Second, nil), next})
		source := extending(memory, func(ctx context.Context, l pool.Lease) error {
			if lost.Load() {
				return pool.ErrLeaseLost
			}
			return l.Extend(ctx)
		})
		time.AfterFunc(30*time.Second, func() { lost.Store(true) })
		time.AfterFunc(50*time.Second, func() { lost.Store(false) })
		r := run(t, pool.Config{Capacity: slots(1), Source: source})
		slices.Sort(r.events[:3])
		r.expect(t, "first done, next cancelled, waits cancelled, first done, waits done, next done", nil)
		for _, ev := range r.all[:3] {
			if !errors.Is(ev.Err, pool.ErrLeaseLost) {
				t.Errorf("%v, want the loss of its lease", ev)
			}
		}
	})
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
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries.Store(0)
				memory := sourcetest.NewMemory(time.Minute, []pool.Task{task("a", time.Hour, nil)})
				run(t, pool.Config{Capacity: slots(1), Source: extending(memory, extend)}).expect(t, "a done", nil)
				if memory.Left() != 0 || tries.Load() < 60 {
					t.Errorf("%d left, extended %d times", memory.Left(), tries.Load())
				}
			})
		})
	}
}

// TestEndsOfExtending: a lease that was settled, lost or left behind is extended no more.
func TestEndsOfExtending(t *testing.T) {
	for name, c := range map[string]struct {
		takes  time.Duration // of a task that ignores its context
		fails  error
		breaks time.Duration // when the run is stopped
	}{
		"settled":     {2 * time.Second, nil, time.Hour},
		"lost":        {time.Hour, errTask, time.Hour},
		"left behind": {time.Hour, nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last atomic.Int64
				began := time.Now()
				lease := stub{extend: func() error { last.Store(int64(time.Since(began))); return c.fails }}
				waits := &faulty{tasks: 1, then: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
				source := altered{waits, func(d *pool.Delivery) {
					d.Lease, d.LeaseTime = lease, 3*time.Second
					d.Task.Run = func(context.Context) (any, error) { time.Sleep(c.takes); return nil, nil }
				}}
				ctx, cancel := context.WithTimeout(t.Context(), c.breaks)
				defer cancel()
				for range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: source, Grace: 5 * time.Second}))(t).Run(ctx) {
				}
				time.Sleep(time.Hour)
				if at := time.Duration(last.Load()); at < time.Second || at > 6*time.Second {
					t.Errorf("extended for the last time after %v", at)
				}
			})
		})
	}
}

// TestSettlingTasksAreNotHeld: a bounded source is asked for the next task while leases are being
// settled.
func TestSettlingTasksAreNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		lease := stub{acknowledge: func() error { time.Sleep(time.Second); return nil }}
		tasks := slices.Repeat([]pool.Task{task("", time.Millisecond, nil)}, 20)
		tasks[0] = task("long", time.Minute, nil)
		source := lent(lease, 0, tasks...)
		r := run(t, pool.Config{Capacity: slots(2), Source: bounded{source}}, func(_ *pool.Pool, ev pool.Event) {
			if took := time.Since(began); ev.Key != "long" && took > 2*time.Second {
				t.Errorf("%s done after %v", ev.Key, took)
			}
		})
		if r.count(pool.Done) != 20 {
			t.Errorf("%v", r.events)
		}
	})
}
