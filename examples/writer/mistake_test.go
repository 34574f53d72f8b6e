package main

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/throttle"
)

// A drain rate without a store that reports its drain rate.
func Example_nothingDrains() {
	_, err := throttle.New(throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
	fmt.Println(err)
	// Output: throttle: invalid configuration: Writes.Laws[0] is DrainRate: want a Monitor with a source that reports a drain, a load.Drainer
}

// A throttle without a running Run makes no decisions. When an operation starts a second
// later, an event reports it.
func TestNotRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		th := must.Have(throttle.New(throttle.Config{OnEvent: func(e throttle.Event) { said = append(said, e.String()) }}))(t)
		time.Sleep(time.Second)
		op, err := th.Acquire(t.Context(), throttle.Write, 1)
		op.Done(err)
		if want := []string{"throttle: writes: not running: call Run"}; !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}
