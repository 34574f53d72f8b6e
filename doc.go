// Package weir keeps a service, its database and its workers inside their
// capacity without anyone guessing a number: it measures how work fares, finds
// how much may run at once, admits that much, and queues or refuses the rest,
// each decision with a reason.
//
// A fixed limit is always wrong: too low while the downstream is healthy, too
// high when it is not. A [Limiter] moves its limit instead. One idea carries all
// of it: a signal (the latency of the work) goes through a control law (package
// law) to an actuator (the limit on work in flight).
//
//	lim, err := weir.New(weir.Config{Name: "search", Max: 200})
//	...
//	err = lim.Do(ctx, func(ctx context.Context) error { return search(ctx, query) })
//	if errors.Is(err, weir.ErrRefused) {
//		// it did not run: answer 503, or fall back
//	}
//
// # What a limiter promises
//
// Work in flight never exceeds the limit. When the limit falls below what is in
// flight nothing is interrupted; nothing new starts until enough has ended. A
// freed slot goes straight to the next waiter. A permit is given back
// once, however often it is tried, and a panic does not lose it. What is refused,
// cancelled in the queue or timed out there never runs.
//
// Package bulkhead puts one cap over several limiters, with slots reserved for some and the
// rest shared out among those that have work.
//
// # How the limit moves
//
// Every [Config].Interval the law is shown what was measured since the limit last
// changed, at most [Config].Window far back, and names the next limit and why.
// Latency counts from dispatch: time in the queue says nothing about the
// downstream. Windows close on the calls that pass by, so an idle limiter costs
// nothing but its memory.
//
// # Seeing what it does
//
// [Limiter.Snapshot] is the state now, [Limiter.History] the last changes with
// their reasons, [Config].OnEvent every change and refusal as it happens ([Log]
// writes them to a log), and a Limiter is an expvar.Var. [Config].Shadow tries
// settings without refusing anyone.
//
// Package weirhttp puts a limiter in front of an http.Handler or a transport, and
// the command weir in front of any HTTP server.
package weir
