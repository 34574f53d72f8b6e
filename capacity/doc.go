// Package capacity counts the resources of work, such as slots, memory and connections, in whole
// amounts of named resources. Work takes all resources that it needs, or none of them.
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
// and gives n back when it ends. [Capacity.SetLimit] and [Capacity.Withhold] change L and W at any
// time. If the amount in use is above that, U > L - W, no work is interrupted. The difference is
// owed, and no work starts until enough work has ended. The debt is computed from L, W and U, so it
// cannot drift.
//
// A request above the limit can never fit and is refused at once. A request above L - W only
// waits. So to pause work, or to scale it, move the withheld amount, not the limit.
//
// # The order
//
// Waiters are served in order of arrival, and no request overtakes: while a request waits,
// [Capacity.TryAcquire] is refused too. Freed resources gather for the first waiter, so small
// requests do not starve a large one. A pool has one place in that order for all its tasks. It may
// backfill: it lets its own later tasks pass its first task.
//
// # Parents and quotas
//
// A capacity may have a parent ([Capacity.Child]): a grant takes from both, or from neither. A
// waiter waits in the queue of its own capacity until it is first there and fits, then in its
// parent's queue, and so on. So a full child does not hold up other children, and the parent is
// fair among its children. All capacities of a tree share one lock.
//
// A quota ([NewQuota]) gets its resources back as time passes, not when work ends. It is a
// Capacity, so it may be a parent: slots for the work that runs at once, below a quota for the
// work that starts in a minute.
//
// # Sources
//
//   - E. W. Dijkstra: the banker's algorithm, 1965: take all that is needed at once,
//     and never wait for the rest while holding a part.
//   - golang.org/x/sync/semaphore: one counter, first in, first out.
package capacity
