package weirriver_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirriver"
)

// Up to 50 jobs wait in the limiter, as many as River has workers; all others wait in the database.
func Example() {
	search := weir.Must(weir.New(weir.Config{
		Name:    "search",
		Queue:   weir.Queue{Size: 50, Timeout: 5 * time.Minute},
		OnEvent: weir.Log(slog.Default()),
	}))
	config := &river.Config{
		Queues:     map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 50}},
		Middleware: []rivertype.Middleware{&weirriver.Middleware{Admitter: weirriver.One(search)}},
	}
	fmt.Println(config.Queues[river.QueueDefault].MaxWorkers, len(config.Middleware))
	// Output: 50 1
}

// Each kind of job has a limit of its own, and all of them together have at most 100 slots.
func ExampleByKind() {
	set, err := bulkhead.New(bulkhead.Config{Max: 100})
	if err != nil {
		return
	}
	limit := &weirriver.Middleware{Admitter: weirriver.ByKind(set)}
	job := &rivertype.JobRow{Kind: "thumbnail", Priority: 1}
	err = limit.Work(context.Background(), job, func(context.Context) error { return nil })
	fmt.Println(err, set.Snapshot().ByKey["thumbnail"].Succeeded)
	// Output: <nil> 1
}

// Each of River's queues has a limit of its own.
func ExampleByQueue() {
	set, err := bulkhead.New(bulkhead.Config{})
	if err != nil {
		return
	}
	limit := &weirriver.Middleware{Admitter: weirriver.ByQueue(set)}
	job := &rivertype.JobRow{Kind: "thumbnail", Queue: "images"}
	err = limit.Work(context.Background(), job, func(context.Context) error { return nil })
	fmt.Println(err, set.Snapshot().ByKey["images"].Succeeded)
	// Output: <nil> 1
}

// A limiter without a queue has its jobs come back later, on a worker that is free by then.
func ExampleOne() {
	search := weir.Must(weir.New(weir.Config{Name: "search", Law: law.Fixed{Limit: 1}}))
	limit := &weirriver.Middleware{Admitter: weirriver.One(search)}
	job := &rivertype.JobRow{Kind: "thumbnail"}
	_ = limit.Work(context.Background(), job, func(ctx context.Context) error {
		second := limit.Work(ctx, job, func(context.Context) error { return nil })
		_, snoozed := second.(*river.JobSnoozeError)
		fmt.Println(snoozed)
		return nil
	})
	// Output: true
}

// All four of River's priorities, for a limiter that only has jobs.
func ExamplePriorityOf() {
	limit := &weirriver.Middleware{Priority: func(job *rivertype.JobRow) weir.Priority {
		return weir.PriorityCritical + weir.Priority(job.Priority-1)
	}}
	for _, job := range []*rivertype.JobRow{{Priority: 1}, {Priority: 2}, {Priority: 4}} {
		fmt.Println(weirriver.PriorityOf(job), limit.Priority(job))
	}
	// Output:
	// normal critical
	// low high
	// low low
}
