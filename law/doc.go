// Package law holds control laws: rules that turn measurements into limits on concurrency.
//
// A signal goes through a law to an actuator. The signal is a [Window]: the measurements of
// work under one limit. The law answers with a [Decision]: the next limit, the [Reason] for
// it and, optionally, how to measure next. The actuator is a limiter, or a simulator that
// drives the same code.
//
// # Driving a law
//
// A [Law] has the settings; its Controller method starts a [Controller], the state of one limiter.
// The owner then repeats:
//
//	decision := controller.Next(window)
//	limit = bounds.Clamp(decision.Limit, limit)
//	// measure the next window under limit, as decision.Next plans it
//
// To write a law, implement these two methods. [Parse] reads the laws of this package from
// text, and their String methods write it.
//
// # Purity
//
// A controller is a function of its settings, its state and the window. It reads
// no clock, starts no goroutine, draws no random number and shares no state, so
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
// A fall is geometric and a rise is arithmetic. From n to m slots a fall takes about
// ln(n/m)/ln(1/Factor) decisions, a rise (m-n)/Step. Too much work in flight harms all work, and a
// free slot harms only the work that waits for it, so the fall is faster. Among limiters that share
// a server this pair also tends to equal shares (Chiu and Jain).
//
// Two conditions keep it steady if latency is a curve s(n):
//
//	s(n+Step) - s(n) < 2tT         a step up cannot jump over the band
//	s(n*Factor) > T(1-t)           a cut from the upper edge lands inside it
//
// If the second condition fails, the limit still settles, after a climb back from below the band.
// If the first condition fails, the limit oscillates: take a wider tolerance or a smaller step. If
// the latency without any load comes near T, no limit helps and Band falls to the minimum: its
// target is absolute.
//
// # The other laws
//
// Each type documents its mathematics, and when it fails.
//
// [Fixed] keeps one limit. It is the baseline for comparisons.
//
// [AIMD] adds a slot while work comes back in time, and cuts the limit by a factor when work is
// late. It suits downstreams that refuse or time out, and is blind to latency below its Timeout.
//
// [Gradient] compares the latency with the least latency that it has seen: n R0/R plus the root of
// n. It suits steady work of one kind, because noise lowers the least latency.
//
// [Gradient2] compares the latency with its own long-term average. It is robust to noise, but its
// average comes to follow an overload.
//
// [Vegas] estimates the length of the queue in slots, n(1-R0/R), and keeps it between two bounds.
// It suits small limits, and sheds slots of a large limit without need.
//
// [Little] computes the limit from peak throughput and no-load latency, which it re-measures:
// P((2+Alpha)R0-R). It finds a limit in a few windows and needs no target, but a maximum of noisy
// windows may exceed the capacity.
//
// [PID] holds a latency at a target, like Band, by a PID controller on logarithms. It is smooth,
// and comes to rest at the target. The target is absolute.
//
// [Setpoint] holds the latency at a multiple of the no-load latency, which all
// limiters of a server measure at the same moments. It needs no target.
//
// Laws that compare one window with the next plan their own windows, see [Plan].MaxSamples. In
// these they use the work in flight over the throughput as the average latency, by Little's law:
// of the work that started in a short window the quick work ends first, so the mean of its
// latencies is too low.
//
// # Sources
//
//   - D.-M. Chiu, R. Jain: Analysis of the Increase and Decrease Algorithms for
//     Congestion Avoidance in Computer Networks, 1989.
//   - M. Welsh, D. Culler: Adaptive Overload Control for Busy Internet Servers,
//     USITS 2003: a latency percentile held to a target by such a pair.
//   - Netflix concurrency-limits: AIMD, Gradient, Gradient2 and Vegas, and the
//     step that is proportional to a gradient.
//   - Apache brpc, auto concurrency limiter: Little.
package law
