package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
			Capacity: slots(2), Source: source, MaxAttempts: 4, Redeliver: time.Second, MaxRedeliver: 3 * time.Second,
		})
		var attempts []string
		for _, ev := range r.all {
			attempts = append(attempts, fmt.Sprint(ev.Key, " ", ev.Attempt, " ", ev.Rejected))
		}
		if got := strings.Join(attempts, ", "); got != "weak 1 false, bad 1 true, weak 2 false, weak 3 false, weak 4 true" {
			t.Error(got)
		}
		if want := []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("ran at %v, want %v", at, want)
		}
		dead := source.DeadLetters()
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

// sized is a source that notes the sizes which it hears, and the most tasks that are out.
type sized struct {
	*sourcetest.MemorySource
	sizes []int64
}

func (s *sized) Resize(size int64) int64 {
	s.sizes = append(s.sizes, size)
	return s.MemorySource.Resize(size)
}

// TestSourceHearsTheSize: and the pool holds no more tasks than that, while the backlog grows on.
func TestSourceHearsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []pool.Task
		for i := range 40 {
			tasks = append(tasks, task(fmt.Sprint(i), time.Minute, nil))
		}
		source := &sized{MemorySource: sourcetest.NewMemory(time.Hour, tasks)}
		most := 0
		run(t, pool.Config{
			Capacity: must.Have(capacity.New(capacity.Vector{"slots": 16}))(t), Source: source, Cost: capacity.Vector{"slots": 2},
			Scaler: pool.ByBacklog{High: 10, Low: 4, Initial: 4, Min: 4, Step: 4},
		}, func(p *pool.Pool, _ pool.Event) {
			s := p.Snapshot()
			most = max(most, s.Running+s.Ready)
		})
		if !slices.Equal(source.sizes[:3], []int64{4, 6, 8}) {
			t.Errorf("heard %v, want the size in tasks: from 4 by 2 to 8", source.sizes)
		}
		if most != 8 {
			t.Errorf("held %d tasks, want 8", most)
		}
	})
}

// TestBoundedSourceOfTasksThatWait: what the pool holds may all wait for tasks behind them.
func TestBoundedSourceOfTasksThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []pool.Task
		for i := range 5 {
			last := task(fmt.Sprint(i), time.Second, nil)
			last.After = []string{"first"}
			tasks = append(tasks, last)
		}
		source := sourcetest.NewMemory(time.Minute, append(tasks, task("first", time.Second, nil)))
		r := run(t, pool.Config{Capacity: slots(2), Source: source})
		if r.err != nil || len(r.events) != 6 || r.events[0] != "first done" || source.Left() != 0 {
			t.Errorf("%q, %v: want first done, and then all", r.events, r.err)
		}
	})
}

func TestSourceFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		source faulty
		want   string
		is     error
	}{
		{"error", faulty{tasks: 1, then: func(context.Context) error { return broken }}, "1 done", broken},
		{"panic", faulty{tasks: 1, then: func(context.Context) error { panic(broken) }}, "1 done", pool.ErrSource},
		{"end", faulty{tasks: 2, then: func(context.Context) error { return io.EOF }}, "1 done, 2 done", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run(t, pool.Config{Capacity: slots(1), Source: &test.source}).expect(t, test.want, test.is)
			})
		})
	}
	t.Run("blocks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			source := &faulty{tasks: 1, then: func(context.Context) error { <-release; return io.EOF }}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last error
			for ev, err := range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: source}))(t).Run(ctx) {
				if last = err; ev.Kind == pool.Done {
					cancel()
				}
			}
			if !errors.Is(last, pool.ErrAbandoned) || !strings.Contains(last.Error(), "the source") {
				t.Errorf("%v", last)
			}
			close(release)
		})
	})
}

func TestDrainLeavesASourceBehindThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		source := &faulty{tasks: 2, then: func(context.Context) error { <-release; return io.EOF }}
		p := must.Have(pool.New(pool.Config{Capacity: slots(2), Source: source, Grace: 100 * time.Millisecond}))(t)
		time.AfterFunc(500*time.Millisecond, p.Drain)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // or a run that waits for the source would not end
		defer cancel()
		began, done := time.Now(), 0
		var last error
		for ev, err := range p.Run(ctx) {
			if last = err; ev.Kind == pool.Done {
				done++
			}
		}
		if took := time.Since(began); done != 2 || took != 2100*time.Millisecond ||
			!errors.Is(last, pool.ErrAbandoned) {
			t.Errorf("%d done in %v, %v: want what ran to end, and then the grace", done, took, last)
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
