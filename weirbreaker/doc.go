// Package weirbreaker makes a circuit breaker of github.com/sony/gobreaker/v2 the
// [weir.Breaker] of a limiter.
//
// A limiter holds back work that exceeds the capacity of a downstream; a breaker stops work
// while the downstream fails. While the breaker is open, work is refused at once
// ([weir.ErrBreakerOpen]). While it is half open, its probes go through the limiter like any
// other work. The breaker counts a failure, a timeout or an overload as a failure, and a
// success as a success. It does not count work that was ignored, refused by the limiter, or
// abandoned by its caller.
//
//	lim, err := weir.New(weir.Config{Name: "search", Breaker: weirbreaker.New(gobreaker.Settings{})})
//
// In a bulkhead each key gets its own breaker:
//
//	bulkhead.Compartment{Breaker: weirbreaker.ByKey(gobreaker.Settings{})}
package weirbreaker
