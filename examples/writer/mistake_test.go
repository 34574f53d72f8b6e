package main

import (
	"context"
	"fmt"

	"github.com/weir-go/weir/throttle"
)

// A drain rate without a store that tells what it drains.
func Example_nothingDrains() {
	_, err := throttle.New(throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
	fmt.Println(err)
	// Output: throttle: invalid configuration: Writes.Laws[0] is DrainRate: want a Monitor with a source that tells a drain, a load.Drainer
}

// A throttle whose Run nothing calls decides nothing. An event says so when the first operation
// starts.
func Example_notRunning() {
	th, err := throttle.New(throttle.Config{OnEvent: func(e throttle.Event) { fmt.Println(e) }})
	if err != nil {
		return
	}
	op, err := th.Start(context.Background(), throttle.Write, 1)
	op.Done(err)
	// Output: throttle: writes: not running: call Run
}
