package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/retry"
)

func ExampleClient_Do() {
	client, err := retry.New(retry.Config{Name: "search", Backoff: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	attempts := 0
	err = client.Do(context.Background(), func(context.Context) error {
		attempts++
		if attempts == 1 {
			return &weir.RefusedError{Reason: weir.ReasonQueueFull}
		}
		return nil
	})
	fmt.Println(attempts, err)
	// Output: 2 <nil>
}

// The attempts of an interceptor that must read a reply before it can classify it.
func ExampleCall_Try() {
	client, err := retry.New(retry.Config{Backoff: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	send := func(attempt int) (status string) {
		return map[int]string{1: "RESOURCE_EXHAUSTED", 2: "OK"}[attempt]
	}
	call := client.Call()
	for again := true; again; {
		again, err = call.Try(context.Background(), func() retry.Answer {
			status := send(call.Attempt())
			fmt.Println(call.Attempt(), status)
			if status == "RESOURCE_EXHAUSTED" {
				return retry.Answer{Outcome: weir.Overloaded} // with the RetryAfter of the reply, if it has one
			}
			return retry.Answer{Outcome: weir.Success}
		})
	}
	if err != nil {
		fmt.Println(err) // the throttle refused it, or the context has ended
	}
	// Output:
	// 1 RESOURCE_EXHAUSTED
	// 2 OK
}

// Errors of a library that are worth another attempt.
func ExampleConfig_classify() {
	errBusy := errors.New("database is locked")
	client, err := retry.New(retry.Config{
		Backoff: time.Millisecond,
		Classify: func(err error) retry.Answer {
			if errors.Is(err, errBusy) {
				return retry.Answer{Outcome: weir.Overloaded}
			}
			return retry.Classify(err)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = client.Do(context.Background(), func(context.Context) error { return errBusy })
	fmt.Println(err, client.Snapshot().Attempts)
	// Output: database is locked 3
}

// A budget for a loop of your own.
func ExampleNewBudget() {
	budget, err := retry.NewBudget(retry.BudgetConfig{Share: 0.2, MinPerSecond: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 10 {
		budget.Deposit() // a call succeeded
	}
	retries := 0
	for budget.Withdraw() {
		retries++
	}
	fmt.Println(retries)
	// Output: 3
}

// A throttle for calls of your own.
func ExampleNewThrottler() {
	throttle, err := retry.NewThrottler(retry.ThrottlerConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	sent := 0
	for range 1000 {
		ticket, err := throttle.TryAcquire(context.Background())
		if err != nil {
			continue
		}
		sent++
		ticket.Finish(weir.Overloaded) // by a downstream that is down
	}
	fmt.Println(sent < 200)
	// Output: true
}

func ExampleClassify() {
	answer := retry.Classify(&weir.RefusedError{Reason: weir.ReasonQueueFull, RetryAfter: time.Second})
	fmt.Println(answer.Outcome, answer.RetryAfter, answer.Final)
	// Output: overloaded 1s false
}
