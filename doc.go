// Package weir keeps a service, its database and its workers inside their capacity. It measures the
// latency and throughput of work, finds how much work may run at once, admits that amount, and
// queues or refuses the other work. Each decision has a reason.
//
// A fixed limit is too low while the downstream is healthy, or too high while it is not. A
// [Limiter] moves its limit instead: a signal, the latency of the work, goes through a control law
// (package law) to an actuator, the limit on work in flight.
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
// [Limiter.Do] runs a function once it is admitted, and [Do] a function that returns a value. Work
// that does not fit a function takes a [Permit] with [Limiter.Acquire] and gives it back with
// [Permit.Done] or [Permit.DoneWith]. [Limiter.TryAcquire] never waits. [Limiter.Full] checks for
// room before the work is read, and takes no slot. Heavy work takes several slots with
// [Limiter.DoN] or [Limiter.AcquireN].
//
// Work above the limit is refused at once, unless [Config].Queue lets it wait. The queue orders
// work by the [Priority], the tenant and the deadline of its context: see [WithPriority] and
// [WithTenant]. A refusal matches [ErrRefused] and the error of its reason. It is a
// [*RefusedError], which has the delay of a retry.
//
// # Guarantees
//
// Work starts only if there is room for it below the limit, or alone if it is heavier than the
// limit. When the limit falls below the work in flight, no work is interrupted, and no work starts
// until enough work has ended. A freed slot goes straight to the next waiter. A permit counts once,
// however often it is given back, and a panic does not lose it. Work that is refused, or whose
// caller stops waiting, never runs.
//
// # How the limit moves
//
// Every [Config].Interval the law gets the measurements since the last change of the limit, at
// most [Config].Window far back, and returns the next limit and its reason. A law may plan other
// windows. Latency counts from dispatch, because the time in the queue says nothing about the
// downstream. Calls close the windows, so an idle limiter costs only its memory.
//
// # Observing a limiter
//
// [Limiter.Snapshot] is the present state, and [Limiter.History] has the last changes with their
// reasons. [Config].OnEvent gets every change and refusal as it happens ([Log] writes them to a
// log). A Limiter is an expvar.Var. With [Config].Shadow a limiter refuses nothing, to try its
// settings.
//
// # Related packages
//
//   - law: the control laws, and how to write one
//   - weirhttp: handlers and clients of net/http; weirgrpc and weirconnect are modules of their own
//   - bulkhead: a limiter for each key, under one cap that they share
//   - fleet: a cap that processes share
//   - retry: clients that try again within a budget
//   - shed: refusals by the CPU or another signal of load
//   - throttle: the rate of operations on a database, by its load
//   - bulk, memory: imports within a target of memory
//   - pool, capacity: tasks from a source, within named resources
//   - metrics: data for monitoring systems; weirprom and weirotel are modules of their own
//   - dash: limiters live in a browser
//   - sim: laws on simulated servers
//
// The command weir puts a limiter in front of any HTTP server.
package weir
