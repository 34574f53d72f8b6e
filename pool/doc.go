// Package pool runs tasks from a source within a capacity that sizes itself: as many as
// their resources and their downstream allow, none held back, no flapping.
//
//	c, err := capacity.New(capacity.Vector{"slots": 6})
//	p, err := pool.New(pool.Config{
//		Capacity: c,
//		Source:   pool.Slice(tasks),
//		Scaler:   pool.ByBacklog{High: 10, Low: 4, Initial: 3},
//	})
//	for ev, err := range p.Run(ctx) {
//		...
//	}
//
// # Which task is next
//
// The task of the highest priority starts first. Each [Config].Aging of waiting raises a task
// by one priority. A task of priority p that has waited since s has rank p + (t-s)/A at time t,
// so of two tasks the one with the lesser s - pA goes first at any time. The order never
// changes while they wait, and no task waits forever.
//
// If the first task does not fit, it waits in the queue of its capacity, among the other users
// of the capacity, and up to [Config].Backfill tasks behind it may use the rest. After them
// nothing starts before it, and the resources that ending tasks free are kept for it.
//
// # Sizes
//
// A [Scaler] moves the withheld part of a resource. It steps up above one mark
// and down below another; between them lies a dead zone, wider than the effect of a step on the
// signal, or it would flap. A size is cut at once, whatever runs: the use beyond it is
// owed, and collected as tasks end. Every decision is a [Decided] event with its reason.
//
// # Delivery
//
// A [Lease] is extended while its task waits and runs. A task that loses it is cut short, or does
// not start. It is acknowledged when the task
// succeeded; rejected when it failed in a way that another attempt cannot mend ([Permanent]), or
// for the last time ([Config].MaxAttempts); given back after [Config].Redeliver when it failed;
// and given back at once when it was cut short. So each task runs at least once, and may run
// twice.
//
// # Sources
//
//   - The priority of a task that ages: the static form is that of the multilevel feedback
//     queue and of Unix schedulers since CTSS (F. Corbató and others, 1962).
//   - D. Lifka: The ANL/IBM SP scheduling system, 1995: backfill past a job that does not
//     fit yet. Ours is bounded by a count, for it knows no run times.
package pool
