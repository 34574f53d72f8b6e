package queue

import "github.com/weir-go/weir/internal/reply"

// An Order is how a queue ranks waiters of the same lane and tenant.
type Order uint8

// orders has a line for each order.
var orders = [...]struct {
	start   func(*Queue, View) discipline // takes over the present waiters
	bounds  func(v View, timeout int64) (most int, patience int64)
	endless bool // a size of 0 is not no queue, and join decides when the queue is full
}{
	FIFO:     {startFIFO, boundsOfFIFO, false},
	Adaptive: {startAdaptive, boundsOfAdaptive, true},
}

// Queues reports whether anything may wait in a queue of the given size.
func (o Order) Queues(size int) bool { return size > 0 || orders[o].endless }

// Bounds returns how many may wait, however fast they drain, and for how long without a deadline,
// which is the timeout or less.
func (o Order) Bounds(v View, timeout int64) (most int, patience int64) {
	return orders[o].bounds(v, timeout)
}

// A discipline is an order at work in one queue.
type discipline interface {
	// screen returns Waiting, or says why w may not wait whoever gives way. It may have w's time be
	// up earlier and changes nothing else.
	screen(q *Queue, w *Waiter, v View) reply.Verdict
	// bound is how many may wait with w, which has not joined yet. For more than that, others or w
	// give way.
	bound(q *Queue, w *Waiter, v View) int
	// yields returns the waiter that gives way.
	yields(among *lane, k kind) *Waiter
	// next returns the waiter that is served next, nil if there is none. It may evict others.
	next(q *Queue, v View) (*Waiter, Chain)
	// ahead is how many are served before w, which has not joined yet.
	ahead(q *Queue, w *Waiter) int

	// quantile is the quantile of the latency that counts as the service time.
	quantile() float64
}

// An observer is a discipline that keeps more than the lanes do.
type observer interface {
	// learn notes a waiter that has come, and returns the former state, for recall to
	// forget it.
	learn(w *Waiter, now int64) habits
	recall(habits)
	// gaveWay notes a waiter that was evicted for another.
	gaveWay(w *Waiter, now int64)
	// dropLate evicts the waiters whose time is up.
	dropLate(q *Queue, now int64) Chain
	// added and removed note a waiter that was put into the queue, or taken out.
	added(w *Waiter)
	removed(w *Waiter)
}
