package weirbreaker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sony/gobreaker/v2"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirbreaker"
)

func ExampleNew() {
	breaker := weirbreaker.New(gobreaker.Settings{
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 2 },
	})
	search := weir.Must(weir.New(weir.Config{Name: "search", Breaker: breaker}))
	for range 3 {
		err := search.Do(context.Background(), func(context.Context) error { return errors.New("index lost") })
		fmt.Println(err)
	}
	fmt.Println(breaker.State())
	// Output:
	// index lost
	// index lost
	// weir: limiter "search" refused: breaker open
	// open
}

func ExampleByKey() {
	set, err := bulkhead.New(bulkhead.Config{
		Default: bulkhead.Compartment{Breaker: weirbreaker.ByKey(gobreaker.Settings{
			OnStateChange: func(key string, _, to gobreaker.State) { fmt.Println(key, "is", to) },
			ReadyToTrip:   func(c gobreaker.Counts) bool { return c.TotalFailures >= 1 },
		})},
	})
	if err != nil {
		return
	}
	_ = set.Do(context.Background(), "search", func(context.Context) error { return errors.New("index lost") })
	// Output: search is open
}
