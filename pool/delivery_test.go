package pool_test

import (
	"context"
	"errors"
	"fmt"
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
