package weirtemporal_test

import (
	"context"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirtemporal"
)

// startWorker starts the SDK's worker with slots, for as long as the test.
func startWorker(t *testing.T, slots *weirtemporal.Slots, activities map[string]func(context.Context) error) *frontend {
	t.Helper()
	f, c := newFrontend(t)
	w := worker.New(c, "tasks", worker.Options{
		DisableWorkflowWorker:            true,
		MaxConcurrentActivityTaskPollers: 5,
		Plugins:                          []worker.Plugin{slots.Plugin()},
	})
	for name, run := range activities {
		w.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: name})
	}
	must.Do(t, w.Start())
	t.Cleanup(w.Stop)
	return f
}

// TestWorkerKeepsTheLimit has five pollers and a limit of 3, which activities use until a poller
// has pressed it.
func TestWorkerKeepsTheLimit(t *testing.T) {
	const limit, tasks = 3, 60
	lim := weir.Must(weir.New(weir.Config{Name: "database", Law: law.Fixed{Limit: limit}}))
	var running, most atomic.Int32
	pressed := make(chan struct{})
	f := startWorker(t, weirtemporal.New(lim), map[string]func(context.Context) error{
		"work": func(context.Context) error {
			now := running.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			<-pressed
			return nil
		},
	})
	f.put("work", tasks)
	must.Happen(t, "a poller presses the limit", func() bool { return lim.Snapshot().Refused[weir.ReasonLimitReached] > 0 })
	close(pressed)
	f.await(tasks)
	if most.Load() != limit {
		t.Errorf("up to %d activities at once, want %d", most.Load(), limit)
	}
	if s := lim.Snapshot(); s.Succeeded != tasks || s.InFlight != 0 {
		t.Errorf("%d succeeded, %d in flight", s.Succeeded, s.InFlight)
	}
}

// TestWorkersGiveAllSlotsBack when they stop, also the slots of their polls.
func TestWorkersGiveAllSlotsBack(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "database", Law: law.Fixed{Limit: 4}}))
	slots := weirtemporal.New(lim)
	t.Run("worker", func(t *testing.T) {
		f := startWorker(t, slots, map[string]func(context.Context) error{"panic": func(context.Context) error { panic("odd") }})
		f.put("panic", 10)
		f.put("unknown", 4) // the interceptor does not see them
		f.await(14)
	})
	if s := lim.Snapshot(); s.Failed != 10 || s.InFlight != 0 {
		t.Errorf("%d failed, %d in flight", s.Failed, s.InFlight)
	}
	for range 4 {
		reserve(t, slots) // Stop does not wait for the last of them
	}
	if slots.TryReserveSlot(nil) != nil {
		t.Error("a slot beyond the limit")
	}
}
