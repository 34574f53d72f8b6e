package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

func ExamplePool_Run() {
	c, _ := capacity.New(capacity.Vector{"slots": 1})
	hello := func(name string) pool.Task {
		return pool.Task{Key: name, Run: func(context.Context) (any, error) {
			if name == "" {
				return nil, errors.New("no one there")
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
	// : failed: no one there
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

func ExampleByBacklog() {
	sizer, _ := pool.ByBacklog{High: 10, Low: 4, Initial: 3}.Sizer(6)
	size, why := sizer.Next(pool.Observation{Size: 3, Backlog: pool.Depth{Count: 24}})
	fmt.Println(pool.Decision{Resource: "slots", From: 3, To: size, Reason: why})
	// Output: slots: backlog 24 above 10: raised 3 to 4
}

func ExampleByAge() {
	sizer, _ := pool.ByAge{High: time.Minute, Initial: 3}.Sizer(6)
	size, why := sizer.Next(pool.Observation{Size: 3, Backlog: pool.Depth{Count: 24, Oldest: 2 * time.Minute}})
	fmt.Println(pool.Decision{Resource: "slots", From: 3, To: size, Reason: why})
	// Output: slots: oldest task waits 120 s above 60 s: raised 3 to 4
}

func ExampleByLoad() {
	mon, _ := load.New(load.Config{Sources: []load.Source{&load.Memory{}}}) // its Run is the caller's
	busy := pool.ByLoad{Min: 2, Initial: 4, Measure: func() (float64, bool) {
		level := mon.Level(load.All)
		return level.Load, level.Valid && !level.Degraded
	}}
	sizer, _ := busy.Sizer(6)
	size, why := sizer.Next(pool.Observation{Size: 6})
	fmt.Println(pool.Decision{Resource: "slots", From: 6, To: size, Reason: why})
	// Output: slots: load unknown: cut 6 to 5
}

func ExampleByLaw() {
	c, _ := capacity.New(capacity.Vector{"slots": 16})
	p, err := pool.New(pool.Config{
		Capacity: c,
		Source:   pool.Slice(nil),
		// For tasks of some 100 ms; for longer ones a longer Interval.
		Scaler: pool.ByLaw{
			Law: law.Vegas{Alpha: 2, Beta: 4}, Initial: 4, Interval: 250 * time.Millisecond,
			MinSamples: 10,
		},
	})
	if err != nil {
		panic(err)
	}
	for ev := range p.Run(context.Background()) {
		fmt.Println(ev)
	}
	// Output: slots: latency unknown: held at 4
}

// count runs a pool of two slots and says how its tasks fared.
func count(source pool.Source) {
	c, _ := capacity.New(capacity.Vector{"slots": 2})
	p, _ := pool.New(pool.Config{Capacity: c, Source: source})
	for _, err := range p.Run(context.Background()) {
		if err != nil {
			panic(err)
		}
	}
	s := p.Snapshot()
	fmt.Println(s.Completed, "completed,", s.Failed, "failed,", s.Cancelled, "cancelled")
}

func nothing(context.Context) (any, error) { return nil, nil }

func ExampleChan() {
	tasks := make(chan pool.Task)
	go func() {
		defer close(tasks)
		for range 3 {
			tasks <- pool.Task{Run: nothing}
		}
	}()
	count(pool.Chan(tasks))
	// Output: 3 completed, 0 failed, 0 cancelled
}

func ExampleSeq() {
	count(pool.Seq(func(yield func(pool.Task) bool) {
		for n := range 3 { // each is made when it is claimed
			if !yield(pool.Task{Key: fmt.Sprint("row ", n), Run: nothing}) {
				return
			}
		}
	}))
	// Output: 3 completed, 0 failed, 0 cancelled
}

func ExamplePermanent() {
	source := sourcetest.NewMemory(time.Minute, []pool.Task{{Key: "letter", Run: func(context.Context) (any, error) {
		return nil, pool.Permanent(errors.New("no such address"))
	}}})
	count(source)
	for _, dead := range source.DeadLetters() {
		fmt.Println("dead:", dead.Task.Key, "-", dead.Reason)
	}
	// Output:
	// 0 completed, 1 failed, 0 cancelled
	// dead: letter - no such address
}

func ExamplePool_Drain() {
	c, _ := capacity.New(capacity.Vector{"slots": 1})
	var p *pool.Pool
	tasks := []pool.Task{
		{Key: "first", Run: func(context.Context) (any, error) { p.Drain(); return "to its end", nil }},
		{Key: "second", Run: nothing},
	}
	p, _ = pool.New(pool.Config{Capacity: c, Source: pool.Slice(tasks)})
	for ev := range p.Run(context.Background()) {
		fmt.Println(ev)
	}
	// Output:
	// second: cancelled: pool: drained before it started
	// first: done: to its end
}

func ExampleMinOf() {
	cpu := func() (float64, bool) { return 0.9, true }
	sizer, _ := pool.MinOf{pool.ByBacklog{}, pool.ByLoad{Signal: "cpu", Measure: cpu}}.Sizer(6)
	size, why := sizer.Next(pool.Observation{Size: 3, Backlog: pool.Depth{Count: 24}})
	fmt.Println(size, why)
	// Output: 2 cpu 0.9 above 0.85
}
