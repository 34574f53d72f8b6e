// Package capacity counts the resources of work: slots, memory, connections, in whole
// amounts of named resources. Work takes all that it needs or nothing.
//
//	c, err := capacity.New(capacity.Vector{"slots": 6, "memory_mb": 24_000})
//	request, err := c.Request(capacity.Vector{"slots": 1, "memory_mb": 512})
//	...
//	grant, err := c.Acquire(ctx, request)
//	defer grant.Release()
//
// # Resources
//
// A resource has three numbers: its limit L, the withheld amount W and the amount
// in use U. Work that needs n starts if, for every resource that it needs,
//
//	n <= L - W - U
//
// and gives n back when it ends. [Capacity.SetLimit] and [Capacity.Withhold] move L
// and W at any time. If more is in use than they leave, U > L - W, nothing is
// interrupted: the difference is owed, nothing starts, and ending work pays it
// first. The debt follows from L, W and U and is not stored, so it cannot drift.
//
// The limit is the most there is: a request above it can never fit and is
// refused at once. A request that is above L - W only waits. So a control loop that
// gives capacity out and takes it back moves the withheld part, not the limit.
//
// # The order
//
// Waiters are served in order of arrival, and none overtakes: while one waits,
// [Capacity.TryAcquire] is refused as well. The needs of the first are left to
// gather, so that a large request is not starved by small ones. A pool, whose tasks
// wait in one place of that order, may backfill: let others of its own pass.
//
// # Parents and quotas
//
// A capacity may have a parent ([Capacity.Child]): a grant takes from both, or from
// neither. A waiter is in the queue of its own capacity until it is first
// there and fits, then in its parent's, and so on. So one child that is full
// holds up no other, and the parent is fair among its children. All capacities of a
// tree share one lock, so there is no order of locks within it.
//
// A quota ([NewQuota]) gets its resources back not when work ends but as time
// passes. It is a Capacity like any other, so it may be a parent: slots for how
// much runs at once, below a quota for how much starts in a minute.
//
// # Sources
//
//   - E. W. Dijkstra: the banker's algorithm, 1965: take all that is needed at once,
//     and never wait for the rest while holding a part.
//   - golang.org/x/sync/semaphore: one counter, first in, first out.
package capacity
