// Package pool runs tasks from a source within a capacity, and adapts the number of tasks that run
// at once.
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
// If the first task does not fit, it waits in the queue of its capacity, among the other users of
// the capacity. Up to [Config].Backfill later tasks may start meanwhile. Then no other task starts
// before it, and the resources of ending tasks are kept for it.
//
// # Sizes
//
// A [Scaler] moves the withheld part of a resource. It steps up above one mark and down below
// another. The range between the marks is wider than the effect of a step on the signal, so that
// the size does not oscillate. A size is cut at once: the resources of running tasks beyond it are
// owed until tasks end. Every decision is a [Decided] event with its reason. The largest size is
// the limit of the resource when [New] makes the pool: a limit that is raised later adds nothing.
//
// # Delivery
//
// A [Lease] is extended while its task waits and runs. If the lease is lost, the task is
// cancelled, or does not start. The end of the task settles the lease:
//
//   - It succeeded: the lease is acknowledged.
//   - It failed, and another attempt cannot help ([Permanent]), or this was the last
//     ([Config].MaxAttempts): the lease is rejected.
//   - It failed otherwise: the task is given back after [Config].Redeliver.
//   - It was cancelled: the task is given back at once.
//
// So each task runs at least once, and may run twice.
//
// # Sources
//
//   - The priority of a task that ages: the static form is that of the multilevel feedback
//     queue and of Unix schedulers since CTSS (F. Corbató and others, 1962).
//   - D. Lifka: The ANL/IBM SP scheduling system, 1995: backfill past a job that does not
//     fit yet. Ours is bounded by a count, for it knows no run times.
package pool
