package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
)

// limitTasks runs each type of task within a limit of its own.
func limitTasks(set *bulkhead.Set) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			return set.Do(ctx, task.Type(), func(ctx context.Context) error { return next.ProcessTask(ctx, task) })
		})
	}
}

// config has refused tasks come back when the limiter expects to have room, without using up a
// retry.
var config = asynq.Config{
	IsFailure: func(err error) bool { return !errors.Is(err, weir.ErrRefused) },
	RetryDelayFunc: func(n int, err error, task *asynq.Task) time.Duration {
		if after, again := edge.RetryAfter(err); again && errors.Is(err, weir.ErrRefused) {
			return after
		}
		return asynq.DefaultRetryDelayFunc(n, err, task)
	},
}

func Example_asynq() {
	set, err := bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{
		Config: weir.Config{Queue: weir.Queue{Size: 20, Timeout: time.Minute}},
	}})
	if err != nil {
		return
	}
	mux := asynq.NewServeMux()
	mux.Use(limitTasks(set))
	mux.HandleFunc("email", func(context.Context, *asynq.Task) error { return nil })
	err = mux.ProcessTask(context.Background(), asynq.NewTask("email", nil)) // as asynq.NewServer(redis, config).Run(mux) does
	refusal := &weir.RefusedError{Reason: weir.ReasonQueueFull, RetryAfter: time.Second}
	fmt.Println(err, set.Snapshot().ByKey["email"].Succeeded)
	fmt.Println(config.IsFailure(refusal), config.RetryDelayFunc(1, refusal, nil) >= time.Second)
	// Output:
	// <nil> 1
	// false true
}
