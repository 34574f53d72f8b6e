package bulkhead_test

import (
	"context"
	"fmt"
	"log"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

func ExampleSet_Events() {
	set, err := bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{
		Max: 1, Law: law.Fixed{},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	events, stop := set.Events(100)
	defer stop()

	permit, _ := set.TryAcquire(context.Background(), "GET /search")
	defer permit.Release()
	_, _ = set.TryAcquire(context.Background(), "GET /search")

	fmt.Println(<-events)
	// Output: GET /search: refused: limit reached
}
