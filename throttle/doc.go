// Package throttle protects a database from storms of reads and writes. It measures how close the
// database is to its limit. It bounds the rate at which operations start, or the cost that runs at
// once, so that the database does not stall and the memory does not fill up.
//
// A limiter bounds the number of operations by their latency. That is too late for a store that
// acknowledges a write before the work is done: its latency is low until it stalls. A throttle
// reads the load of the store itself (package load) and bounds the rate at which operations start.
//
//	th, err := throttle.New(throttle.Config{Monitor: mon})
//	...
//	go mon.Run(ctx)
//	go th.Run(ctx)
//
//	op, err := th.Acquire(ctx, throttle.Write, 1) // waits for its turn
//	if err != nil {
//		return err // refused, or ctx has ended: nothing was started
//	}
//	defer op.DoneWith(&err)
//
// Reads and writes have separate bounds. Each side has one pace for the whole process, so the
// total does not grow with the number of connections, and one [weir.Limiter] that queues, refuses
// and measures. While the load is low there is no pace, and Acquire costs as much as
// [weir.Limiter.Acquire]. The default bound on running operations starts at four and doubles while
// they are all in use.
//
// # Mathematics
//
// Every Tick each side of the throttle gets a rate r, in cost per second, from each of its laws,
// and uses the least.
//
// [LoadPID] holds the load y, 0 idle and 1 at the limit, at a setpoint. The output u of the
// controller (package pid), 0 to 1, is the effort. It moves the rate on a logarithmic scale
// between the flow f that was measured without a pace and the slowest pace s:
//
//	u = Kp e + Ki (integral of e) + Kd d(filtered y)/dt,  e = y - setpoint
//	r = f^(1-u) s^u, none at u = 0
//
// so that the same gains suit a store of 100 and one of 100,000 operations per second:
// with f/s = 10^4, 0.1 of effort is a factor of 0.4.
//
// [DrainRate] follows the digestion of the store. With D the drained and A the arrived amount in
// the backlog, C the cost that was admitted meanwhile, each faded with time, B the backlog, T its
// target, L the limit at which the store stalls, and U the amount admitted that has not arrived
// yet:
//
//	r = (C/A) (D/time) min(1 + gain (T - mean B)/T, (L - B - U)/(0.3 (L - T)))
//
// A store that digests in pieces makes a saw of B: D/time is known at the end of each piece, and
// the mean of B steers it, so that the pace is as even as that of a bucket whose rate is known. The
// last term, where there is an L, counts the room that is left: the backlog comes ever closer to
// its limit and does not reach it, so the source's readings begin no emergency. Below three
// quarters of the target the rate doubles each second, until there is none after six.
//
// [Concurrency] bounds the cost that runs at once by [law.Setpoint], the law of every limiter. It
// uses the latency of the side's own operations, with or without readings of the database.
//
// A sample names the actuator that brings its readings down ([load.Actuator]). The default laws of
// a side are a LoadPID and a Concurrency. The LoadPID uses the samples that name pace, as of
// memory and LSM trees, and ignores the samples that name concurrency, as of PostgreSQL, Neo4j and
// pools of connections: the Concurrency brings their readings down.
//
// The pace is a token bucket that may be in debt by one operation, so an operation of
// any cost starts at last and the rate is exact in the long run.
//
// # Without signals
//
// When the monitor has become stale, the side continues from its present pace with a PID
// controller on the symptoms of its own operations, and reports that by an [Event]. When the
// monitor has readings again, the laws continue from there. If Run was never called, or has ended,
// there is no pace. The bound of a Concurrency needs neither a Monitor nor Run.
//
// # Emergency
//
// Where the load reaches 1 ([Config].Emergency) the pace is at most a quarter of the flow of that
// moment. The emergency ends when the load is below 0.9, and in any case after 10 s, since a pace
// that has not helped by then will not help. The clock and the monitor decide about it, not the
// operations that it holds back. Readings that a Concurrency brings down begin no emergency, and
// neither do readings of a source whose drain a DrainRate follows: these laws handle them.
//
// # Refusals
//
// An operation that would start later than it may wait, at the pace, is refused with
// [weir.ErrPace]. RetryAfter is at most 10 s. It is the time until one more operation has a place
// in the queue, not the time until all waiting operations have started. On six simulated stores,
// 72 to 90% of these times, and 81% of all, are within a factor of three of the time after which
// an equal operation, tried each 10 ms, is first let in (TestRetryAfterIsRight). Most others are
// too short. If many operations compete for few places, chance decides which operation gets one,
// and no time could be right in more than two thirds of the cases.
//
// # When it fails
//
//   - A store whose limit no source sees. It needs a [Side].LatencyTarget, or a limiter.
//   - Load that operations do not cause: the pace falls to its slowest for nothing.
//     [LoadPID].MaxDelay bounds it.
//   - A drain that is measured too low: the pace may stay too low while the backlog is small.
//     [DrainRate].MaxDelay bounds it, and holds at the limit of the store too.
//   - A latency target below the latency of the idle store: the pace falls to its slowest too.
//   - Costs that are not in proportion to the work: the pace admits the wrong mix.
//
// # Sources
//
//   - Tokens from the compaction of level 0, because "write completed" does not mean "work
//     done"; unlimited while healthy: CockroachDB, pkg/util/admission, io_load_listener.go.
//   - A limiter seeded from the recent flow: TiKV, flow_controller, 2021.
//   - PID: see package pid.
package throttle
