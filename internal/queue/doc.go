// Package queue holds the requests that wait for admission: lanes by priority, tenants within a
// lane, and within each of these an order such as first in, first out. The caller passes in the
// time and the state of the node. The package never reads a clock, and knows no slots, laws or
// locks: package admit calls it under the lock of a node.
//
// # The answers
//
// A [Queue] answers these questions over a [View] of its node, a value:
//
//   - [Queue.Join]: may this waiter wait, and which waiters give way for it?
//   - [Queue.Refuse]: the same for a waiter that only asks.
//   - [Queue.Next]: which waiter is served next?
//
// Evicted waiters are returned as a [Chain], out of the queue and with their verdict. The
// node counts them and notifies their owners.
//
// # Lanes and tenants
//
// The highest lane that has waiters is served. One pick of twenty goes to a lower lane, the lane
// that has been without a pick for longest. A queue that is too long evicts from the lowest lane.
// Within a lane, with fairness between tenants, the tenant with the least running work is served,
// and the tenant with the most work gives way; decision 0008 has the reasons.
//
// # Orders
//
// An [Order] makes the other decisions: which waiter of a lane, or of a tenant in a lane, is next,
// and which waiter gives way. A newcomer to a full queue makes one waiter give way, which may be
// the newcomer itself. Each order is one file. To add one, write that file, with a constant and a
// type that is a discipline, and add its line to the table of orders. A discipline gets lines of
// waiters and values, such as the outlook of a newcomer: the time of its wait, and the time of its
// work.
//
// First in, first out is the plain order. The adaptive order serves the earliest deadline first,
// and the newest waiter first in a standing queue. A queue is standing once its oldest waiters have
// waited for longer than their target for an interval. Then it sheds the waiters above their
// target, until no waiter was above its target for an interval. The target and the interval are
// half of the time in which the work can still start, or half of the timeout. A burst that drains
// in time is never shed, however long its queue is. Decision 0004 has the measurements.
//
// # Deadlines
//
// Work with a deadline is refused as soon as the deadline cannot be met: on arrival, when draining
// the work ahead takes too long, and again when the work is next. The service time S in this is a
// high quantile of the recent latency, but at most half the work's time to its deadline: if S grew
// beyond all deadlines, all work would be refused, and without measurements S would never be
// corrected. With X completions a second, Little's law gives the wait at position n as n/X.
package queue
