package queue

import (
	"iter"

	"github.com/weir-go/weir/internal/reply"
)

// A Chain is waiters that are in no queue any more, in the order in which they were answered.
// It is linked through them.
type Chain struct{ first, last *Waiter }

// Empty reports whether nothing is in the chain.
func (c *Chain) Empty() bool { return c.first == nil }

// Add appends a waiter.
func (c *Chain) Add(w *Waiter) {
	w.links[byLane] = link{}
	c.append(Chain{w, w})
}

func (c *Chain) append(more Chain) {
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

// All goes through the chain.
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

// Woken is a chain of waiters that were answered and wait for the message, and of those who
// are to look again.
type Woken struct {
	Chain
	rechecks *recheck
}

// recheck is apart from the waiter, which may be answered, or asked to recheck again, before it
// has heard of this one.
type recheck struct {
	w    *Waiter
	next *recheck
}

// None reports whether the chain is empty.
func (c *Woken) None() bool { return c.first == nil && c.rechecks == nil }

// Append adds the waiters of another chain at the end.
func (c *Woken) Append(more Chain) { c.append(more) }

// Recheck has the owner of a waiter look again, unless it was asked already.
func (c *Woken) Recheck(w *Waiter) {
	if !w.RecheckDue {
		w.RecheckDue = true
		c.rechecks = &recheck{w, c.rechecks}
	}
}

// Wake wakes them all. It is called without any lock held.
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

// evict takes a waiter out of the queue with a verdict.
func (q *Queue) evict(w *Waiter, why reply.Verdict, out *Chain) {
	q.Remove(w)
	w.Verdict = why
	out.Add(w)
}
