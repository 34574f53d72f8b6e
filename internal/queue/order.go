package queue

import "github.com/weir-go/weir/internal/reply"

// An Order is how a queue ranks waiters of the same lane and tenant.
type Order uint8

// orders has a line for each order.
var orders = [...]struct {
	start   func(*Queue, View) discipline // takes over the current waiters
	bounds  func(v View, timeout int64) (most int, patience int64)
	endless bool // a size of 0 does not mean no queue, and join decides when the queue is full
}{
	FIFO:     {startFIFO, boundsOfFIFO, false},
	Adaptive: {startAdaptive, boundsOfAdaptive, true},
}

// Queues reports whether anything may wait in a queue of the given size.
func (o Order) Queues(size int) bool { return size > 0 || orders[o].endless }

// Bounds returns how many may wait, regardless of the drain rate, and for how long without a
// deadline, which is the timeout or less.
func (o Order) Bounds(v View, timeout int64) (most int, patience int64) {
	return orders[o].bounds(v, timeout)
}

// A discipline is the order of one queue.
type discipline interface {
	// screen returns Waiting, or the reason why w may not wait, even if others give way. It
	// may shorten w's time and changes nothing else.
	screen(q *Queue, w *Waiter, v View) reply.Verdict
	// bound is how many may wait, including w, which has not joined yet. Beyond that, others
	// or w give way.
	bound(q *Queue, w *Waiter, v View) int
	// yields returns the waiter that gives way, of the given line.
	yields(among *lane, k kind) *Waiter
	// next returns the waiter that is served next, nil if there is none. It may evict others.
	next(q *Queue, v View) (*Waiter, Chain)
	// ahead counts the waiters served before w, which has not joined yet.
	ahead(q *Queue, w *Waiter) int

	// quantile is the quantile of the latency used as the service time.
	quantile() float64
}

// An observer is a discipline with state of its own, besides the lanes.
type observer interface {
	// learn learns from a new waiter. It returns the earlier state, for recall to restore.
	learn(w *Waiter, now int64) habits
	recall(habits)
	// gaveWay is called for a waiter that was evicted for another.
	gaveWay(w *Waiter, now int64)
	// dropLate evicts the waiters whose time is up.
	dropLate(q *Queue, now int64) Chain
	// added and removed are called for a waiter that joined or left the queue.
	added(w *Waiter)
	removed(w *Waiter)
}
