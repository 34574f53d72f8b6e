package weirtemporal_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirtemporal"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
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
	must.Happen(t, "all of the limit is in use, and a poller presses it", func() bool {
		return most.Load() >= limit && lim.Snapshot().Refused[weir.ReasonLimitReached] > 0
	})
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

// A frontend is the part of a Temporal server that a worker of activities talks to: it hands out
// tasks that were put in, and receives their results.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer

	tasks    chan string   // the type of an activity each
	answered chan struct{} // receives one for each
	handed   atomic.Int64
}

// newFrontend starts a frontend for a test and returns a client of it.
func newFrontend(t *testing.T) (*frontend, client.Client) {
	t.Helper()
	f := &frontend{tasks: make(chan string, 1000), answered: make(chan struct{}, 1000)}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	c := must.Have(client.Dial(client.Options{HostPort: listener.Addr().String(), Logger: silent{}}))(t)
	t.Cleanup(c.Close)
	return f, c
}

// silent is a log that nothing is written to.
type silent struct{ log.Logger }

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *frontend) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (f *frontend) ShutdownWorker(context.Context, *workflowservice.ShutdownWorkerRequest) (*workflowservice.ShutdownWorkerResponse, error) {
	return &workflowservice.ShutdownWorkerResponse{}, nil
}

func (f *frontend) PollActivityTaskQueue(ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	var kind string
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case kind = <-f.tasks:
	}
	return &workflowservice.PollActivityTaskQueueResponse{
		TaskToken:         []byte(kind),
		ActivityId:        fmt.Sprint(f.handed.Add(1)),
		ActivityType:      &commonpb.ActivityType{Name: kind},
		WorkflowNamespace: "default",
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "one", RunId: "one"},
		WorkflowType:      &commonpb.WorkflowType{Name: "one"},
		Attempt:           1,

		ScheduledTime:          timestamppb.Now(),
		StartedTime:            timestamppb.Now(),
		StartToCloseTimeout:    durationpb.New(time.Hour),
		ScheduleToCloseTimeout: durationpb.New(time.Hour),
	}, nil
}

func (f *frontend) RespondActivityTaskCompleted(context.Context, *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	f.answered <- struct{}{}
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}

func (f *frontend) RespondActivityTaskFailed(context.Context, *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	f.answered <- struct{}{}
	return &workflowservice.RespondActivityTaskFailedResponse{}, nil
}

// put adds n activities of a type for a worker to run.
func (f *frontend) put(kind string, n int) {
	for range n {
		f.tasks <- kind
	}
}

// await returns once so many more activities were answered.
func (f *frontend) await(n int) {
	for range n {
		<-f.answered
	}
}
