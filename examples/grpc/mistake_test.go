package main

import (
	"fmt"

	"github.com/weir-go/weir/weirgrpc"
)

// A server without a function that selects the limiter of a method.
func Example_noLimiter() {
	defer func() { fmt.Println(recover()) }()
	weirgrpc.LimitServer(nil, weirgrpc.ServerConfig{})
	// Output: weir: the function that names the admitter of a method is nil: want one, such as One(limiter)
}
