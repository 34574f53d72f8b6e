package weir_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// A Slot is a permit with the program's data on the work. Permits are values: they can be
// stored, handed on and returned.
type Slot struct {
	weir.Permit
	Host string
}

func acquire(ctx context.Context, lim *weir.Limiter, host string) (Slot, error) {
	permit, err := lim.Acquire(ctx)
	if err != nil {
		return Slot{}, fmt.Errorf("no slot for %s: %w", host, err)
	}
	return Slot{permit, host}, nil
}

func ExamplePermit() {
	lim := weir.Must(weir.New(weir.Config{}))
	slot, err := acquire(context.Background(), lim, "example.com")
	if err != nil {
		return
	}
	later := slot
	slot.Done(nil)
	later.Done(nil) // a copy is for the same work, so this does nothing
	s := lim.Snapshot()
	fmt.Println(slot.Host, s.InFlight, "in flight,", s.Completed, "completed")
	// Output: example.com 0 in flight, 1 completed
}

func ExamplePermit_Done() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	permit.Done(errors.New("connection reset")) // how the work ended
	permit.Done(nil)                            // giving it back again does nothing
	s := lim.Snapshot()
	fmt.Println(s.Completed, "completed,", s.Failed, "failed")
	// Output: 1 completed, 1 failed
}

func ExamplePermit_DoneWith() {
	lim := weir.Must(weir.New(weir.Config{}))
	work := func() (err error) {
		permit, err := lim.Acquire(context.Background())
		if err != nil {
			return err
		}
		defer permit.DoneWith(&err) // reads err when work returns; a panic counts as a failure
		return errors.New("connection reset")
	}
	fmt.Println(work(), lim.Snapshot().Failed)
	// Output: connection reset 1
}

func ExamplePermit_Release() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	// The answer was in the cache: its latency says nothing about the downstream.
	permit.Release()
	fmt.Println(lim.Snapshot().Samples, "samples")
	// Output: 0 samples
}

func ExamplePermit_Finish() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	outcome := weir.Success
	if status := 504; status == 504 {
		outcome = weir.Timeout
	}
	permit.Finish(outcome)
	fmt.Println(lim.Snapshot().TimedOut, "timed out")
	// Output: 1 timed out
}

// The client is slow: the server's work is over at the first byte, but its memory is taken
// until the last.
func ExamplePermit_Measure() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	defer permit.Release() // gives the slot back, and reports no outcome
	permit.Measure(weir.Success)
	s := lim.Snapshot()
	fmt.Println(s.Samples, "sample,", s.InFlight, "in flight, age", s.Age)
	// Output: 1 sample, 1 in flight, age 0s
}

// A stream lasts as long as its client wants. It holds a slot, and its latency says nothing.
func ExamplePermit_Measure_stream() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	permit.Measure(weir.Ignore)
	defer permit.Release()
	s := lim.Snapshot()
	fmt.Println(s.Samples, "samples,", s.InFlight, "in flight, age", s.Age)
	// Output: 0 samples, 1 in flight, age 0s
}

// How many tokens an answer takes is known once it is there.
func ExamplePermit_SetWeight() {
	lim := weir.Must(weir.New(weir.Config{Initial: 4000, Law: law.Fixed{}}))
	const most = 1000
	permit, err := lim.AcquireN(context.Background(), most)
	if err != nil {
		return
	}
	defer permit.Release()
	if err := permit.SetWeight(350); err != nil { // the prompt and the answer so far
		fmt.Println(err)
	}
	fmt.Println(lim.Snapshot().InFlight, "of", lim.Snapshot().Limit)
	// Output: 350 of 4000
}

// A fuse is a breaker that blows at the first failure and never recovers. For a
// real one see the module weirbreaker.
type fuse struct{ blown atomic.Bool }

func (f *fuse) Allow(context.Context) (func(weir.Outcome), error) {
	if f.blown.Load() {
		return nil, errors.New("blown")
	}
	return func(o weir.Outcome) {
		if o == weir.Failure {
			f.blown.Store(true)
		}
	}, nil
}

func ExampleBreaker() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Breaker: &fuse{}}))
	for range 2 {
		err := lim.Do(context.Background(), func(context.Context) error { return errors.New("index lost") })
		fmt.Println(err)
	}
	// Output:
	// index lost
	// weir: limiter "search" refused: breaker open
}

// A process that gets its share of a downstream's capacity sets its cap to it.
func ExampleLimiter_SetCap() {
	lim := weir.Must(weir.New(weir.Config{Initial: 10}))
	for _, part := range []int{4, 0, 100} {
		if err := lim.SetCap(part); err != nil {
			fmt.Println(err)
		}
		permit, err := lim.TryAcquire(context.Background())
		fmt.Println(lim.Snapshot().Limit, err == nil)
		permit.Release()
	}
	// Output:
	// 4 true
	// 0 false
	// 10 true
}

// A server that is full answers before it reads the body.
func ExampleLimiter_Full() {
	lim := weir.Must(weir.New(weir.Config{Name: "upload", Max: 1}))
	header := func(ctx context.Context) string {
		if err := lim.Full(ctx); err != nil {
			return err.Error()
		}
		return "send the body" // and then lim.Do reads it
	}
	fmt.Println(header(context.Background()))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	defer permit.Release()
	fmt.Println(header(context.Background()))
	// Output:
	// send the body
	// weir: limiter "upload" refused: limit reached
}

// Code that admits work need not know whether it has a limiter or one key of a set.
func ExampleAdmitter() {
	greet := func(limit weir.Admitter, name string) (string, error) {
		return weir.Do(context.Background(), limit, func(context.Context) (string, error) {
			return "hello, " + name, nil
		})
	}
	lim := weir.Must(weir.New(weir.Config{}))
	fmt.Println(greet(lim, "world"))
	// Output: hello, world <nil>
}

func ExamplePermit_Pushback() {
	lim := weir.Must(weir.New(weir.Config{Name: "billing"}))
	permit, err := lim.Acquire(context.Background())
	if err != nil {
		return
	}
	// The API answered 429 with Retry-After: 5.
	permit.Pushback(5 * time.Second)
	permit.Finish(weir.Overloaded)
	fmt.Println(lim.Snapshot().Overloaded)
	// Output: 1
}
