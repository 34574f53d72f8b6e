package orders_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weir-go/weir"
)

// A refusal compared with ==. It names its limiter and its reason, so it is not equal to
// ErrRefused, but errors.Is matches it.
func Example_comparedWithEqual() {
	lim := weir.Must(weir.New(weir.Config{Name: "payments"}))
	lim.Close()
	err := lim.Do(context.Background(), func(context.Context) error { return nil })
	fmt.Println(err)
	fmt.Println(err == weir.ErrRefused, errors.Is(err, weir.ErrRefused))
	// Output:
	// weir: limiter "payments" refused: closed
	// false true
}
