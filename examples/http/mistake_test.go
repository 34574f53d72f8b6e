package main

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
)

// A timeout without a queue. The library has no queue unless Size is set.
func Example_queueWithoutSize() {
	_, err := weir.New(weir.Config{Name: "orders", Queue: weir.Queue{Timeout: time.Second}})
	fmt.Println(err)
	// Output: weir: invalid configuration: Queue.Timeout is 1s: want 0 without a queue: set Queue.Size, or Queue.Discipline to Adaptive
}
