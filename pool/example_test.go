package pool_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
)

func ExamplePool_Run() {
	c, _ := capacity.New(capacity.Vector{"slots": 1})
	hello := func(name string) pool.Task {
		return pool.Task{Key: name, Run: func(context.Context) (any, error) {
			if name == "" {
				return nil, errors.New("nobody there")
			}
			return "hello " + name, nil
		}}
	}
	last := hello("world")
	last.After = []string{"Weir"}
	p, err := pool.New(pool.Config{
		Capacity: c,
		Source:   pool.Slice([]pool.Task{last, hello("Weir"), hello("")}),
	})
	if err != nil {
		panic(err)
	}
	for ev, err := range p.Run(context.Background()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(ev)
	}
	// Unordered output:
	// Weir: done: hello Weir
	// : failed: nobody there
	// world: done: hello world
}

func ExampleReport() {
	c, _ := capacity.New(capacity.Vector{"slots": 1})
	p, _ := pool.New(pool.Config{Capacity: c, Source: pool.Slice([]pool.Task{{Key: "copy", Run: func(ctx context.Context) (any, error) {
		pool.Report(ctx, "half of it")
		return "all of it", nil
	}}})})
	for ev := range p.Run(context.Background()) {
		fmt.Println(ev)
	}
	// Output:
	// copy: progress: half of it
	// copy: done: all of it
}

func ExampleBacklog() {
	sizer, _ := pool.Backlog{High: 10, Low: 4, Initial: 3}.Sizer(6)
	size, why := sizer.Next(pool.Reading{Size: 3, Backlog: pool.Depth{Count: 24}})
	fmt.Println(pool.Decision{Resource: "slots", From: 3, To: size, Reason: why})
	// Output: slots: backlog 24 above 10: raised 3 to 4
}

func ExampleCareful() {
	cpu := func() (float64, bool) { return 0.9, true }
	sizer, _ := pool.Careful{pool.Backlog{}, pool.Load{Measure: cpu}}.Sizer(6)
	size, why := sizer.Next(pool.Reading{Size: 3, Backlog: pool.Depth{Count: 24}})
	fmt.Println(size, why)
	// Output: 2 load 0.9 above 0.85
}
