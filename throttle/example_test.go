package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

func Example() {
	mon, err := load.New(load.Config{Sources: []load.Source{&load.Memory{Target: 1 << 40}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	th, err := throttle.New(throttle.Config{Monitor: mon})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = mon.Run(ctx) }()
	go func() { _ = th.Run(ctx) }()

	save := func(ctx context.Context, event string) (err error) {
		op, err := th.Acquire(ctx, throttle.Write, 1)
		if err != nil {
			return err
		}
		defer op.DoneWith(&err)
		fmt.Println("saved", event)
		return nil
	}
	fmt.Println(save(ctx, "a"))
	// Output:
	// saved a
	// <nil>
}

func ExampleThrottle_Do() {
	th, err := throttle.New(throttle.Relay())
	if err != nil {
		fmt.Println(err)
		return
	}
	err = th.Do(context.Background(), throttle.Read, 3, func(context.Context) error { return nil })
	s := th.Snapshot().Reads
	fmt.Println(err, s.Cost, s.Limiter.Completed)
	// Output: <nil> 3 1
}

// The cost of an operation is known once it is done: it is paced by the bytes that it wrote.
func ExampleThrottle_Acquire() {
	th, err := throttle.New(throttle.Config{})
	if err != nil {
		return
	}
	permit, err := th.Acquire(context.Background(), throttle.Write, 100)
	if err != nil {
		return
	}
	defer permit.DoneWith(&err)
	rows := 8
	err = permit.SetWeight(rows)
	fmt.Println(th.Snapshot().Writes.Cost, err)
	// Output: 8 <nil>
}

func ExampleThrottle_Acquire_refused() {
	th, err := throttle.New(throttle.Config{Name: "events"})
	if err != nil {
		fmt.Println(err)
		return
	}
	th.Close()
	_, err = th.Acquire(context.Background(), throttle.Write, 1)
	var refused *weir.RefusedError
	fmt.Println(errors.As(err, &refused), refused)
	// Output: true weir: limiter "events Writes" refused: closed
}

func ExampleNew() {
	_, err := throttle.New(throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{MaxDelay: -1}}}})
	fmt.Println(err)
	// Output: throttle: invalid configuration: Writes.Laws[0].MaxDelay is -1ns: want 0 (the default) or more
}

func ExampleImport() {
	writes := throttle.Import().Writes
	fmt.Printf("%+v, waits up to %v\n", writes.Laws[0], writes.Queue.Timeout)
	// Output: {Setpoint:0.7 Kp:0.5 Ki:0.15 Kd:0.05 Filter:450ms MaxDelay:1s}, waits up to 1m0s
}

// A store is the source of a store that reports its digestion, as badgerload has
// one.
type store struct{}

func (store) Name() string                              { return "store" }
func (store) TellsDrain() bool                          { return true }
func (store) Poll(context.Context) (load.Sample, error) { return load.Sample{}, nil }

func ExampleConfig() {
	mon, err := load.New(load.Config{Sources: []load.Source{store{}, &load.Memory{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = throttle.New(throttle.Config{
		Monitor: mon,
		Reads:   throttle.Side{LatencyTarget: 100 * time.Millisecond},
		Writes: throttle.Side{
			Laws:  []throttle.LoadLaw{throttle.DrainRate{}, throttle.Concurrency{}},
			Queue: weir.Queue{Size: 5000, Timeout: 10 * time.Second, Discipline: weir.Adaptive},
		},
		OnEvent: func(e throttle.Event) { fmt.Println(e) },
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleFromEnv() {
	os.Setenv("APP_THROTTLE_WRITE_SETPOINT", "0.7")
	os.Setenv("APP_THROTTLE_WRITE_MIN_BATCH", "10")
	_, err := throttle.FromEnv("APP_THROTTLE")
	fmt.Println(err)
	os.Unsetenv("APP_THROTTLE_WRITE_MIN_BATCH")

	s, err := throttle.FromEnv("APP_THROTTLE")
	fmt.Println(s.Throttle.Writes.Laws[0].(throttle.LoadPID).Setpoint, s.MemoryTarget>>20, err)
	// Output:
	// throttle: invalid configuration: APP_THROTTLE_WRITE_MIN_BATCH is not a setting
	// 0.7 1400 <nil>
}
