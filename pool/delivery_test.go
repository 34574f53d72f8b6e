package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// TestTasksThatFailForTheLastTimeAreRejected: at the last delivery, or at any if it is permanent.
// The delay doubles from one delivery to the next.
func TestTasksThatFailForTheLastTimeAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		source := sourcetest.NewMemory(time.Minute, []pool.Task{
			{Key: "weak", Run: func(context.Context) (any, error) {
				at = append(at, time.Since(began))
				return nil, errTask
			}},
			{Key: "bad", Run: func(context.Context) (any, error) {
				time.Sleep(time.Second / 2)
				return nil, pool.Permanent(errTask)
			}},
		})
		r := run(t, pool.Config{
			Capacity: slots(2), Source: source, MaxAttempts: 4, Redeliver: time.Second,
		})
		var attempts []string
		for _, ev := range r.all {
			attempts = append(attempts, fmt.Sprint(ev.Key, " ", ev.Attempt, " ", ev.Rejected))
		}
		if got := strings.Join(attempts, ", "); got != "weak 1 false, bad 1 true, weak 2 false, weak 3 false, weak 4 true" {
			t.Error(got)
		}
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("ran at %v, want %v", at, want)
		}
		dead := source.DeadLetters()
		if pool.Permanent(nil) != nil {
			t.Error("an error of nothing")
		}
		if len(dead) != 2 || dead[0].Task.Key != "bad" || dead[1].Task.Key != "weak" || !errors.Is(dead[1].Reason, errTask) {
			t.Errorf("%+v", dead)
		}
	})
}

// TestTaskThatKillsItsWorkerIsRejected: it never comes back to be judged, so it is judged before it
// runs.
func TestTaskThatKillsItsWorkerIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, []pool.Task{task("killer", time.Second, nil)})
		for range 3 { // workers that die
			must.Do(t, source.Claim(t.Context(), 1, func(pool.Delivery) {}))
		}
		r := run(t, pool.Config{Capacity: slots(1), Source: source, MaxAttempts: 3})
		r.expect(t, "killer failed", nil)
		if ev := r.all[0]; !ev.Rejected || !errors.Is(ev.Err, pool.ErrAttempts) || ev.Attempt != 3 {
			t.Errorf("%+v", ev)
		}
		if len(source.DeadLetters()) != 1 {
			t.Error("no dead letter")
		}
	})
}

// TestTaskWhoseDependencyFailedIsRejected: it is delivered as often as others.
func TestTaskWhoseDependencyFailedIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, []pool.Task{task("weak", 1, errTask), after(task("after", 1, nil), "weak")})
		run(t, pool.Config{Capacity: slots(1), Source: source, MaxAttempts: 2, Redeliver: time.Second})
		if dead := source.DeadLetters(); len(dead) != 2 || !errors.Is(dead[1].Reason, pool.ErrAttempts) {
			t.Errorf("%+v", dead)
		}
	})
}

// TestFailureOfAnotherTaskRejectsNone: a run that stops at it gives back the tasks that it cuts
// short.
func TestFailureOfAnotherTaskRejectsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, []pool.Task{
			task("cut", time.Hour, nil), task("bad", time.Second, pool.Permanent(errTask)), task("waits", 1, nil),
		})
		run(t, pool.Config{Capacity: slots(2), Source: source, StopOnError: true})
		if n := source.Left(); n != 2 || len(source.DeadLetters()) != 1 {
			t.Errorf("%d left, and dead letters %+v", n, source.DeadLetters())
		}
	})
}

// TestLimitThatFellRejectsNone: neither a task that waits then, nor one that comes.
func TestLimitThatFellRejectsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := tasks(20, time.Second)
		for i := 0; i < len(all); i += 2 {
			all[i].Cost = capacity.Vector{"slots": 2}
		}
		c, source := slots(2), sourcetest.NewMemory(time.Hour, all)
		time.AfterFunc(3500*time.Millisecond, func() { must.Do(t, c.SetLimit("slots", 0)) })
		time.AfterFunc(time.Minute, func() { must.Do(t, c.SetLimit("slots", 2)) })
		r := run(t, pool.Config{Capacity: c, Source: source})
		if done := r.count(pool.Done); done != 20 || r.count(pool.Failed) == 0 || len(source.DeadLetters()) != 0 {
			t.Errorf("%d of 20 done, %d failed before, %d rejected", done, r.count(pool.Failed), len(source.DeadLetters()))
		}
	})
}

// TestSourceThatCannotReject: its tasks are acknowledged, and come no more.
func TestSourceThatCannotReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acknowledged := 0
		lease := stub{acknowledge: func() error { acknowledged++; return nil }}
		run(t, pool.Config{Capacity: slots(1), Source: leased(pool.Permanent(errTask), lease)}).
			expect(t, "1 failed, 2 failed, 3 failed", nil)
		if acknowledged != 3 {
			t.Errorf("%d acknowledged", acknowledged)
		}
	})
}

func TestRejectThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, pool.Config{Capacity: slots(1), Source: leased(pool.Permanent(errTask), unrejecting{})})
		if ev := r.all[0]; ev.Rejected || !errors.Is(ev.Err, errTask) || !errors.Is(ev.Err, errDown) {
			t.Errorf("%+v", ev)
		}
	})
}

var errDown = errors.New("down")

type unrejecting struct{ stub }

func (unrejecting) Reject(context.Context, error) error { return errDown }

// holds returns the most tasks that a pool holds of forty of a bounded source.
func holds(t *testing.T, c pool.Config, each ...func()) (most int) {
	t.Helper()
	c.Source = sourcetest.NewMemory(time.Hour, tasks(40, time.Minute))
	run(t, c, func(p *pool.Pool, _ pool.Event) {
		s := p.Snapshot()
		most = max(most, s.Running+s.Ready)
		for _, f := range each {
			f()
		}
	})
	return most
}

// TestBoundedSourceFollowsTheSize: the pool holds no more tasks than may run, while the backlog
// grows on.
func TestBoundedSourceFollowsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := capacity.Vector{"slots": 2}
		most := holds(t, pool.Config{
			Capacity: slots(16), Cost: cost, Scaler: pool.ByBacklog{High: 10, Low: 4, Initial: 4, Min: 4, Step: 4},
		}, func() { cost["slots"] = 1 }) // which is no longer the pool's
		if most != 8 {
			t.Errorf("held %d tasks, want 8", most)
		}
	})
}

// TestSizeByTheResourceOfAParent: the cost may be one of a resource that only the parent has.
func TestSizeByTheResourceOfAParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := must.Have(capacity.New(capacity.Vector{"connections": 8}))(t)
		child := must.Have(parent.Child(capacity.Vector{"slots": 10}))(t)
		if most := holds(t, pool.Config{Capacity: child, Cost: capacity.Vector{"slots": 1, "connections": 1}}); most != 8 {
			t.Errorf("held %d tasks, want 8", most)
		}
	})
}

// TestSourceThatIsSlowToSettle holds the pool back, or the calls that settle would pile up.
func TestSourceThatIsSlowToSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		settling, most := 0, 0
		lease := stub{acknowledge: func() error {
			mu.Lock()
			settling++
			most = max(most, settling)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			settling--
			mu.Unlock()
			return nil
		}}
		r := run(t, pool.Config{Capacity: slots(10), Source: lent(lease, 0, tasks(1000, time.Millisecond)...), Buffer: 20})
		if done := r.count(pool.Done); done != 1000 || most < 20 || most > 20+10 {
			t.Errorf("%d done, and up to %d acknowledged at once, want as many as the buffer has room for", done, most)
		}
	})
}

// TestBoundedSourceOfTasksThatWait: all tasks in the pool may wait for tasks behind them.
func TestBoundedSourceOfTasksThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := tasks(5, time.Second)
		for i := range all {
			all[i].After = []string{"first"}
		}
		source := sourcetest.NewMemory(time.Minute, append(all, task("first", time.Second, nil)))
		r := run(t, pool.Config{Capacity: slots(2), Source: source})
		if r.err != nil || len(r.events) != 6 || r.events[0] != "first done" || source.Left() != 0 {
			t.Errorf("%q, %v: want first done, and then all", r.events, r.err)
		}
	})
}

func TestSourceThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &faulty{tasks: 1, then: func(context.Context) error { return errDown }}
		run(t, pool.Config{Capacity: slots(1), Source: source}).expect(t, "1 done", errDown)
	})
}

func TestDrainLeavesASourceBehindThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		source := &faulty{tasks: 2, then: func(context.Context) error { <-release; return io.EOF }}
		began := time.Now()
		r := run(t, pool.Config{Capacity: slots(2), Source: source, Grace: 100 * time.Millisecond}, func(p *pool.Pool, _ pool.Event) {
			p.Drain() // while the second runs
		})
		r.expect(t, "1 done, 2 done", pool.ErrAbandoned)
		if !strings.Contains(r.err.Error(), "the source") {
			t.Error(r.err)
		}
		if took := time.Since(began); took != 2100*time.Millisecond {
			t.Errorf("took %v: want what ran to end, and then the grace", took)
		}
		close(release)
	})
}

// faulty is a source of some tasks, and then of trouble.
type faulty struct {
	tasks, claimed int
	then           func(context.Context) error
	backlog        func(context.Context) (pool.Depth, error)
}

func (f *faulty) Claim(ctx context.Context, _ int, handOn func(pool.Delivery)) error {
	if f.claimed++; f.claimed <= f.tasks {
		handOn(pool.Delivery{Task: task(fmt.Sprint(f.claimed), time.Duration(f.claimed)*time.Second, nil)})
		return nil
	}
	return f.then(ctx)
}

func (f *faulty) Backlog(ctx context.Context) (pool.Depth, error) {
	if f.backlog == nil {
		return pool.Depth{}, nil
	}
	return f.backlog(ctx)
}

// TestContextThatHasEnded: such a run can be over before anyone but the feeder looks.
func TestContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		p := must.Have(pool.New(pool.Config{Capacity: slots(1), Source: pool.Slice([]pool.Task{task("a", 1, nil)})}))(t)
		var last error
		for _, err := range p.Run(ctx) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("ended with %v", last)
		}
	}
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

// TestShortAndLongLeases: no length of a lease keeps a processor busy or overflows.
func TestShortAndLongLeases(t *testing.T) {
	for length, kept := range map[time.Duration]bool{
		-1: true, 0: true, 1: false, 2 * time.Nanosecond: false, 3 * time.Millisecond: true,
		math.MaxInt64: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			var extended atomic.Int64
			source := lent(stub{extend: func() error { extended.Add(1); return nil }}, length, task("a", time.Second, nil))
			want := "a done"
			if !kept {
				want = "a failed"
			}
			run(t, pool.Config{Capacity: slots(1), Source: source}).expect(t, want, nil)
			if extended.Load() > 1000 {
				t.Errorf("a lease of %v was extended %d times in a second", length, extended.Load())
			}
		})
	}
}

// altered is a source of other deliveries, and bounds nothing.
type altered struct {
	pool.Source
	alter func(*pool.Delivery)
}

func (a altered) Claim(ctx context.Context, n int, handOn func(pool.Delivery)) error {
	return a.Source.Claim(ctx, n, func(d pool.Delivery) { a.alter(&d); handOn(d) })
}

// lent is a source of tasks with a lease that lasts for the given time.
func lent(lease pool.Lease, lasts time.Duration, tasks ...pool.Task) pool.Source {
	return altered{pool.Slice(tasks), func(d *pool.Delivery) { d.Lease, d.LeaseTime = lease, lasts }}
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
