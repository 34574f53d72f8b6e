// Package law holds control laws: rules that turn what was measured into how
// much may run at once.
//
// A signal goes through a law to an actuator. The signal is a [Window]: how work
// fared under one limit. The law answers with a [Decision]: the next limit, the
// [Reason] for it and, if it cares, how to measure next. The actuator is a
// limiter, or a simulator that drives the same code.
//
// # Driving a law
//
// A [Law] is settings; its Controller method starts a [Controller], the state of
// one limiter. The owner then repeats:
//
//	decision := controller.Next(window)
//	limit = bounds.Clamp(decision.Limit, limit)
//	// measure the next window under limit, as decision.Next plans it
//
// Whoever writes a law implements these two methods. [Parse] reads the laws of
// this package from text, and their String methods write it.
//
// # Purity
//
// A controller is a function of its settings, its state and the window. It reads
// no clock, starts no goroutine, draws no random number and shares nothing, so
// the same windows give the same limits, live or simulated. It does not allocate.
// A measurement that is not finite never reaches its state.
//
// # Band
//
// [Band] holds a signal s, by default the p95 of the latency, near a target T
// with tolerance t. From a limit n it goes to
//
//	floor(n * Factor)   when s > T(1+t)
//	n + Step            when s < T(1-t) and n was used
//	n                   otherwise
//
// Down is geometric and up is arithmetic. From n to m slots a fall takes about
// ln(n/m)/ln(1/Factor) decisions, a rise (m-n)/Step: too much work in flight
// costs all of it, a free slot only itself. Among limiters that share a server
// this pair also tends to equal shares (Chiu and Jain).
//
// Two conditions keep it calm where latency is a curve s(n):
//
//	s(n+Step) - s(n) < 2tT         a step up cannot jump over the band
//	s(n*Factor) > T(1-t)           a cut from the upper edge lands inside it
//
// If the second fails the limit still settles, after a climb back from below the
// band. If the first fails it saws: take a wider tolerance or a smaller step. If
// the latency without any load comes near T, no limit helps and Band falls to
// the minimum: its target is absolute.
//
// # Sources
//
//   - D.-M. Chiu, R. Jain: Analysis of the Increase and Decrease Algorithms for
//     Congestion Avoidance in Computer Networks, 1989.
//   - M. Welsh, D. Culler: Adaptive Overload Control for Busy Internet Servers,
//     USITS 2003: a latency percentile held to a target by such a pair.
//   - Netflix concurrency-limits: the step that is proportional to a gradient.
package law
