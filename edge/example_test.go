package edge_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/law"
)

// A small adapter: it admits a call, runs it, and reports its outcome.
func Example() {
	serve := func(ctx context.Context, admitter weir.Admitter, call func(context.Context) error) error {
		if edge.IsExempt(admitter) {
			return call(ctx)
		}
		permit, err := admitter.Acquire(ctx)
		if err != nil {
			return err
		}
		outcome := weir.Failure
		defer func() { permit.Finish(outcome) }()
		if err = call(ctx); err != nil {
			outcome = edge.ErrorOutcome(ctx, err)
			return err
		}
		outcome = weir.Success
		return nil
	}
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	defer lim.Close()
	err := serve(context.Background(), lim, func(context.Context) error { return context.DeadlineExceeded })
	fmt.Println(err, lim.Snapshot().TimedOut)
	// Output: context deadline exceeded 1
}

func ExampleRetryAfter() {
	err := error(&weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull, RetryAfter: 3 * time.Second})
	after, again := edge.RetryAfter(err)
	fmt.Println(again, after >= 3*time.Second, after <= 6*time.Second)
	// Output: true true true
}

func ExampleGRPCCode() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Law: law.Fixed{Limit: 1}}))
	lim.Close()
	_, err := lim.Acquire(context.Background())
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		fmt.Println(refused.Reason, edge.GRPCCode(refused.Reason), edge.HTTPStatus(refused.Reason))
	}
	// Output: closed 14 503
}

func ExampleIsExempt() {
	limiters := map[string]*weir.Limiter{"/search": weir.Must(weir.New(weir.Config{}))}
	fmt.Println(edge.IsExempt(limiters["/search"]), edge.IsExempt(limiters["/healthz"]))
	// Output: false true
}

func ExampleContextOutcome() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(edge.ContextOutcome(ctx) == weir.Abandoned)
	// Output: true
}

func ExampleErrorOutcome() {
	refusal := &weir.RefusedError{Reason: weir.ReasonQueueFull}
	fmt.Println(edge.ErrorOutcome(context.Background(), refusal) == weir.Overloaded)
	// Output: true
}
