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
	need, err := c.Need(capacity.Vector{"slots": 1, "memory_mb": 16_000})
	if err != nil {
		panic(err)
	}
	grant, err := c.Acquire(context.Background(), need)
	if err != nil {
		panic(err)
	}
	_, err = c.TryAcquire(need)
	fmt.Println(err)
	grant.Release()
	fmt.Println(c.Usage("memory_mb").Available, "MB available")
	// Output:
	// capacity: refused: needs 16000 of "memory_mb", 8000 free of 24000
	// 24000 MB available
}

// A control loop holds part of the capacity back. What is in use is collected as it
// comes free.
func ExampleCapacity_Reserve() {
	c, _ := capacity.New(capacity.Vector{"slots": 6})
	need, _ := c.Need(capacity.Vector{"slots": 5})
	grant, _ := c.TryAcquire(need)

	_ = c.Reserve("slots", 3)
	fmt.Printf("%+v\n", c.Usage("slots"))
	grant.Release()
	fmt.Printf("%+v\n", c.Usage("slots"))
	// Output:
	// {Limit:6 InUse:5 Reserved:1 Owed:2 Available:0}
	// {Limit:6 InUse:0 Reserved:3 Owed:0 Available:3}
}

func ExampleCapacity_Need() {
	c, _ := capacity.New(capacity.Vector{"slots": 6})
	_, err := c.Need(capacity.Vector{"slots": 7})
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
	need, _ := c.Need(capacity.Vector{"slots": 1, "calls": 1})

	grant, _ := c.TryAcquire(need)
	grant.Release()
	fmt.Println(c.Usage("slots").Available, "slots,", calls.Usage("calls").Available, "calls")
	// Output:
	// 4 slots, 99 calls
}

func ExampleCapacity_Claim() {
	c, _ := capacity.New(capacity.Vector{"slots": 4})
	one, _ := c.Need(capacity.Vector{"slots": 1})
	all, _ := c.Need(capacity.Vector{"slots": 4})
	running, _ := c.TryAcquire(one)

	claim, _ := c.Claim(all, func() { fmt.Println("its turn has come") })
	small, err := claim.Pass(one) // uses what is free meanwhile
	fmt.Println(err)
	small.Release()
	running.Release()
	grant, err := claim.Take()
	fmt.Println(err)
	grant.Release()
	// Output:
	// <nil>
	// its turn has come
	// <nil>
}
