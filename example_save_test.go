package weir_test

import (
	"fmt"
	"log"

	"github.com/weir-go/weir"
)

// A limiter goes on after a restart from what the one before has learned.
func ExampleLimiter_Restore() {
	before := weir.Must(weir.New(weir.Config{Name: "search"}))
	state := before.Save() // keep it in a file, for example

	after := weir.Must(weir.New(weir.Config{Name: "search"}))
	if err := after.Restore(state); err != nil {
		log.Print(err) // it starts as if there were no state
	}
	fmt.Println(after.Snapshot().Limit)
	// Output: 4
}
