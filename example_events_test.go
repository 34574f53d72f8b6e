package weir_test

import (
	"context"
	"fmt"

	"github.com/weir-go/weir"
)

// A page for operators follows a limiter while someone looks at it.
func ExampleLimiter_Events() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	events, stop := lim.Events(100)

	lim.Close()
	_, _ = lim.TryAcquire(context.Background())

	stop()
	for e := range events { // in a service: on a goroutine of its own, before stop
		fmt.Println(e, e.Lost)
	}
	// Output: search: refused: closed 0
}
