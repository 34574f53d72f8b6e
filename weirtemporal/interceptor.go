package weirtemporal

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// Interceptor returns an interceptor that informs the limiter of activities, for
// worker.Options.Interceptors of a worker whose Tuner has the slots. [Slots.Plugin] installs both.
// Put it last, or it measures the other interceptors too.
//
// The latency of an activity that succeeds counts from its start to its end. An activity that is
// cancelled, that ends with activity.ErrResultPending, or with an error of the benign category
// teaches the limiter nothing. An activity that panics, or ends its goroutine, has failed. For
// other activities see [edge.ErrorOutcome].
//
// An activity that the limiter refuses, because its limit fell or other work took the room while
// the worker polled, runs all the same and is not measured: the server has handed it out, and a
// failure would use up an attempt. At a time a worker has at most as many of these activities as
// pollers. If the limiter has a queue, the activity waits there first.
func (s *Slots) Interceptor() interceptor.WorkerInterceptor { return &workerInterceptor{slots: s} }

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
	slots *Slots
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (w *workerInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	inbound := &inbound{slots: w.slots}
	inbound.Next = next
	return inbound
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	slots *Slots
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (i *inbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if activity.GetInfo(ctx).IsLocalActivity { // a local activity has a slot of another supplier
		return i.Next.ExecuteActivity(ctx, in)
	}
	permit, err := i.slots.begin(ctx)
	if err != nil {
		return i.Next.ExecuteActivity(ctx, in)
	}
	result := weir.Failure // unless the activity returns
	defer func() { i.slots.end(permit, result) }()
	value, err := i.Next.ExecuteActivity(ctx, in)
	result = outcome(ctx, err)
	return value, err
}

// outcome returns the meaning of an activity's end for its downstream.
func outcome(ctx context.Context, err error) weir.Outcome {
	if err == nil {
		return weir.Success
	}
	if errors.Is(err, activity.ErrResultPending) || temporal.IsCanceledError(err) {
		return weir.Ignore
	}
	if failure, ok := errors.AsType[*temporal.ApplicationError](err); ok && failure.Category() == temporal.ApplicationErrorCategoryBenign {
		return weir.Ignore
	}
	return edge.ErrorOutcome(ctx, err)
}
