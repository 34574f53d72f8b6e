package weirtemporal_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/weir-go/weir/internal/must"
)

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

// put has a worker run so many activities of a type.
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
