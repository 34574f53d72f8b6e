package capacity_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/capacity"
)

func ExampleNew() {
	c, err := capacity.New(capacity.Vector{"slots": 6, "memory_mb": 24_000})
	if err != nil {
		panic(err)
	}
	request, err := c.Request(capacity.Vector{"slots": 1, "memory_mb": 16_000})
	if err != nil {
		panic(err)
	}
	grant, err := c.Acquire(context.Background(), request)
	if err != nil {
		panic(err)
	}
	_, err = c.TryAcquire(request)
	fmt.Println(err)
	grant.Release()
	fmt.Println(c.Resource("memory_mb").Available, "MB available")
	// Output:
	// capacity: refused: needs 16000 of "memory_mb", 8000 free of 24000
	// 24000 MB available
}

// A control loop holds part of the capacity back. Resources in use are collected as they
// comes free.
func ExampleCapacity_Withhold() {
	c, _ := capacity.New(capacity.Vector{"slots": 6})
	request, _ := c.Request(capacity.Vector{"slots": 5})
	grant, _ := c.TryAcquire(request)

	_ = c.Withhold("slots", 3)
	fmt.Printf("%+v\n", c.Resource("slots"))
	grant.Release()
	fmt.Printf("%+v\n", c.Resource("slots"))
	// Output:
	// {Limit:6 InUse:5 Withheld:1 Owed:2 Available:0}
	// {Limit:6 InUse:0 Withheld:3 Owed:0 Available:3}
}

func ExampleCapacity_Request() {
	c, _ := capacity.New(capacity.Vector{"slots": 6})
	_, err := c.Request(capacity.Vector{"slots": 7})
	fmt.Println(err)
	fmt.Println(errors.Is(err, capacity.ErrNeverFits))
	// Output:
	// capacity: refused: needs 7 of "slots", its limit is 6
	// true
}

// At most 100 calls start in a minute, and at most 4 run at once.
func ExampleNewQuota() {
	calls, _ := capacity.NewQuota(capacity.Vector{"calls": 100}, capacity.Refill{Every: time.Minute})
	c, _ := calls.Child(capacity.Vector{"slots": 4})
	request, _ := c.Request(capacity.Vector{"slots": 1, "calls": 1})

	grant, _ := c.TryAcquire(request)
	grant.Release()
	fmt.Println(c.Resource("slots").Available, "slots,", calls.Resource("calls").Available, "calls")
	// Output:
	// 4 slots, 99 calls
}
