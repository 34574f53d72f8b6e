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
// # Giving work to a limiter
//
// [Limiter.Do] runs a function once it is admitted, and [Do] one that returns a value. Work that
// does not fit a function takes a [Permit] with [Limiter.Acquire] and gives it back with
// [Permit.Done] or [Permit.DoneWith]. [Limiter.TryAcquire] never waits. [Limiter.Full] asks before
// the work is read, and takes no slot. Heavy work takes several slots with [Limiter.DoN] or
// [Limiter.AcquireN].
//
// Work above the limit is refused at once, unless [Config].Queue lets it wait. The queue orders
// work by the [Priority], the tenant and the deadline of its context: see [WithPriority] and
// [WithTenant]. A refusal matches [ErrRefused] and the error of its reason, and is a
// [*RefusedError], which says when to come back.
//
// # Guarantees
//
// Work starts only while there is room for it below the limit, or alone if it is heavier. When the
// limit falls below the work in flight, nothing is interrupted, and nothing starts until enough has
// ended. A freed slot goes straight to the next waiter. A permit is given back once, however often
// it is tried, and a panic does not lose it. Work that is refused, or that gives up waiting, never
// runs.
//
// # How the limit moves
//
// Every [Config].Interval the law gets the measurements since the limit last changed, at most
// [Config].Window far back, and returns the next limit and its reason. Latency counts from
// dispatch: time in the queue says nothing about the downstream. Calls close the windows, so
// an idle limiter costs only its memory.
//
// # Observing a limiter
//
// [Limiter.Snapshot] is the state now, [Limiter.History] the last changes with
// their reasons, [Config].OnEvent every change and refusal as it happens ([Log]
// writes them to a log), and a Limiter is an expvar.Var. [Config].Shadow tries
// settings without refusing anyone.
//
// # Related packages
//
//   - law: the control laws, and how to write one
//   - weirhttp: handlers and clients of net/http; weirgrpc and weirconnect are modules of their own
//   - bulkhead: a limiter for each key, under one cap that they share
//   - fleet: a cap that processes share
//   - retry: clients that try again within a budget
//   - throttle: the pace of writes to a database
//   - pool, capacity: tasks from a source, run as named resources allow
//   - metrics: data for monitoring systems; weirprom and weirotel are modules of their own
//   - sim: laws tried on simulated servers
//
// The command weir puts a limiter in front of any HTTP server.
package weir
