package queue

import "github.com/weir-go/weir/internal/reply"

// An Order is the way in which a queue ranks waiters of the same lane and tenant.
type Order uint8

// orders has the settings of each order.
var orders = [...]struct {
	start     func() discipline
	size      int  // the size for a setting of 0
	deadlines bool // deadlines decide the order, so the queue measures their spread
}{
	FIFO:     {start: func() discipline { return fifo{} }},
	Adaptive: {start: func() discipline { return &adaptive{} }, size: 1000, deadlines: true},
}

// Size returns the number of waiters that the given setting allows, where 0 means the default.
func (o Order) Size(setting int) int {
	if setting == 0 {
		return orders[o].size
	}
	return setting
}

// A discipline is the order of one queue. It sees waiters and lines of waiters, and not the queue.
type discipline interface {
	// screen returns Waiting, or the reason why a newcomer may not wait, even if other waiters give
	// way. It may shorten w's time and changes nothing else.
	screen(w *Waiter, o outlook) reply.Verdict
	// next returns the waiter of a line that is served next.
	next(l line, now int64) *Waiter
	// yields returns the waiter of a line that gives way if the queue is too long.
	yields(l line) *Waiter
	// gaveWay is called for a waiter that was evicted for another waiter.
	gaveWay(w *Waiter, now int64)
	// late returns a waiter that has waited for too long, nil if there is none.
	late(lanes []lane, now int64) *Waiter
	// added and removed are called for a waiter that joined or left the queue.
	added(w *Waiter)
	removed(w *Waiter)
}
