package queue

import (
	"iter"

	"github.com/weir-go/weir/internal/reply"
)

// A Chain is a list of waiters that have left the queue, in the order in which they were answered.
// The waiters themselves hold the links.
type Chain struct{ first, last *Waiter }

// Empty reports whether the chain is empty.
func (c *Chain) Empty() bool { return c.first == nil }

// Add appends a waiter that is in no lane.
func (c *Chain) Add(w *Waiter) { c.Append(Chain{w, w}) }

// Append adds the waiters of a chain at the end.
func (c *Chain) Append(more Chain) {
	switch {
	case more.first == nil:
		return
	case c.last == nil:
		c.first = more.first
	default:
		c.last.links[byLane].next = more.first
	}
	c.last = more.last
}

// All iterates over the chain. A waiter may be reused once it was yielded.
func (c *Chain) All() iter.Seq[*Waiter] {
	return func(yield func(*Waiter) bool) {
		for w := c.first; w != nil; {
			next := w.links[byLane].next
			if !yield(w) {
				return
			}
			w = next
		}
	}
}

// Woken is a chain of answered waiters to wake, and a list of waiters to recheck.
type Woken struct {
	Chain
	rechecks *recheck
}

// A recheck is a notice to a waiter. It is separate from the waiter, which may be answered, or
// notified again, before it has received this notice.
type recheck struct {
	w    *Waiter
	next *recheck
}

// None reports whether there is no waiter to notify.
func (c *Woken) None() bool { return c.first == nil && c.rechecks == nil }

// Recheck makes the owner of a waiter look again, unless it was already notified.
func (c *Woken) Recheck(w *Waiter) {
	if !w.RecheckDue {
		w.RecheckDue = true
		c.rechecks = &recheck{w, c.rechecks}
	}
}

// Wake notifies all these waiters. It is called without any lock held.
func (c *Woken) Wake() {
	for n := c.rechecks; n != nil; n = n.next {
		n.w.Owner.Recheck()
	}
	for w := c.first; w != nil; {
		next := w.links[byLane].next // the owner may reuse w as soon as it is woken
		w.links[byLane].next = nil
		w.Owner.Wake()
		w = next
	}
}

func (q *Queue) evict(w *Waiter, why reply.Verdict, out *Chain) {
	q.Remove(w)
	w.Verdict = why
	out.Add(w)
}
