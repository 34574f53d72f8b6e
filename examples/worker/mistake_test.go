package main

import (
	"fmt"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
)

// More initial workers than capacity.
func Example_moreThanCapacity() {
	slots, err := capacity.New(capacity.Vector{"slots": workers})
	if err != nil {
		return
	}
	_, err = pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil), Scaler: pool.ByLaw{Initial: 100}})
	fmt.Println(err)
	// Output: pool: invalid configuration: ByLaw.Initial is 100: want from Min to Max, which are 1 and 64
}
