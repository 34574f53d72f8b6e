// Package weirbreaker makes a circuit breaker of github.com/sony/gobreaker/v2 the
// [weir.Breaker] of a limiter.
//
// A limiter holds back work that a downstream cannot take; a breaker stops work that it cannot
// answer. Behind one, work is refused at once while the breaker is open
// ([weir.ErrBreakerOpen]); when it is half open its probes go through the limiter as
// any other work does. It counts as the limiter does: a failure, a timeout or an
// overload as a failure, a success as a success, and nothing that was ignored, refused
// by the limiter, or left by its caller.
//
//	lim, err := weir.New(weir.Config{Name: "search", Breaker: weirbreaker.New(gobreaker.Settings{})})
//
// In a bulkhead each key gets its own:
//
//	bulkhead.Compartment{Breaker: weirbreaker.ByKey(gobreaker.Settings{})}
package weirbreaker
