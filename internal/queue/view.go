package queue

import "time"

// A View is the node's state as shown to a queue. Times are in nanoseconds, on the scale of
// the node.
type View struct {
	Now      int64
	Limit    int32 // the slots of the node
	Size     int32 // setting for the number of waiters; the order defines 0
	Measured Measured
}

// Measured is the pace of a node and the measurements of its work. It is queried only on
// demand, because a view is made for each waiter, and most need none.
type Measured interface {
	// Quantile returns the latency that a share p of recent work does not exceed, 0 if nothing has
	// completed.
	Quantile(p float64) time.Duration
	// DrainRate returns completions per second while the limit holds work back, 0 if unknown.
	DrainRate(now int64) float64
	// Pace returns the pace at this moment.
	Pace() Pace
}
