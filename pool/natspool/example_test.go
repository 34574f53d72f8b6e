package natspool_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// opened is a queue of a folder for an example; the function removes it.
func opened() (*natspool.Queue, func()) {
	dir, err := os.MkdirTemp("", "natspool")
	if err != nil {
		panic(err)
	}
	local, err := natspool.Open(context.Background(), dir)
	if err != nil {
		panic(err)
	}
	q, err := natspool.New(context.Background(), local.JetStream(), natspool.Config{Stream: "mail"})
	if err != nil {
		panic(err)
	}
	return q, func() {
		_ = local.Close()
		_ = os.RemoveAll(dir)
	}
}

// A folder is all that a durable queue needs. Other processes that open it share its jobs.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "natspool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	local, err := natspool.Open(ctx, dir)
	if err != nil {
		panic(err)
	}
	defer local.Close()
	queue, err := natspool.New(ctx, local.JetStream(), natspool.Config{Stream: "mail"})
	if err != nil {
		panic(err)
	}
	_ = queue.Add(ctx, "order 17", []byte("ada@example.com"))
	s, err := queue.Snapshot(ctx)
	for err == nil && s.Waiting == 0 { // the server counts it a moment later
		s, err = queue.Snapshot(ctx)
	}
	fmt.Printf("%+v %v\n", s, err)
	// Output: {Waiting:1 Held:0 Dead:0} <nil>
}

func ExampleQueue_Source() {
	queue, remove := opened()
	defer remove()
	ctx := context.Background()
	_ = queue.Add(ctx, "order 17", []byte("ada@example.com"))
	c, _ := capacity.New(capacity.Vector{"slots": 8})
	p, err := pool.New(pool.Config{
		Capacity: c,
		Source: queue.Source(func(j natspool.Job) pool.Task {
			return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return "sent to " + string(j.Data), nil }}
		}),
		MaxAttempts: 5,
	})
	if err != nil {
		panic(err)
	}
	for ev := range p.Run(ctx) {
		fmt.Println(ev)
		break // a service continues
	}
	// Output: order 17: done: sent to ada@example.com
}

func ExampleQueue_DeadLetters() {
	queue, remove := opened()
	defer remove()
	ctx := context.Background()
	_ = queue.Add(ctx, "order 17", []byte("ada"))
	c, _ := capacity.New(capacity.Vector{"slots": 8})
	p, _ := pool.New(pool.Config{Capacity: c, Source: queue.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) {
			return nil, pool.Permanent(errors.New("no such address"))
		}}
	})})
	for range p.Run(ctx) {
		break
	}
	for l, err := range queue.DeadLetters(ctx) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d: %s, %s: %s\n", l.Number, l.Job.ID, l.Job.Data, l.Reason)
		fmt.Println(queue.Requeue(ctx, l.Number)) // once the address is mended
	}
	// Output:
	// 1: order 17, ada: no such address
	// <nil>
}
