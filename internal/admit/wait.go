package admit

import (
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Join answers the waiter at once if possible, and otherwise queues it. The owner of a queued
// waiter is woken when the waiter is answered, unless the waiter leaves before.
func (n *Node) Join(w *queue.Waiter, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	defer n.slots.unlock()
	w.Verdict = reply.MustWait // in case the law calls runtime.Goexit: there is nothing to give back
	now = n.advance(now, fx)
	w.Arrive(now)
	if n.slots.flags&(shadow|closed) == shadow {
		w.Ticket = n.acquireInShadow(Work{Tenant: w.Tenant, Weight: w.Weight}, now, fx)
		w.Verdict = reply.Admitted
		return reply.Admitted
	}
	verdict := n.consider(w.Weight, true, now, fx)
	if verdict == reply.MustWait {
		verdict = n.enqueue(w, (*queue.Queue).Join, now, fx)
	}
	switch {
	case verdict == reply.Admitted:
		n.admit(w, now)
	case verdict.Refused():
		n.decline(w, verdict)
	}
	w.RecheckDue = true // its owner is about to get the answer
	if n.slots.inflight < int64(n.slots.limit) || n.slots.member != nil {
		n.serve(now, fx) // it may go ahead of heavier work
	}
	w.RecheckDue, w.Told = false, w.RecheckAt
	return verdict
}

// Full answers as Acquire and then Join would, but takes no slot and no place in the queue. A
// refusal counts as a refusal by Acquire or Join does. Admitted and Waiting are the answers of this
// moment, and give the waiter no place. A node in shadow mode is never full.
func (n *Node) Full(w *queue.Waiter, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	defer n.slots.unlock()
	now = n.advance(now, fx)
	if n.slots.flags&(shadow|closed) == shadow {
		return reply.Admitted
	}
	w.Arrive(now)
	verdict := n.consider(w.Weight, true, now, fx)
	asked := verdict == reply.MustWait
	if asked {
		verdict = n.enqueue(w, (*queue.Queue).Refuse, now, fx)
	}
	if verdict.Refused() {
		n.decline(w, verdict)
	}
	if asked && verdict.Refused() && (n.slots.inflight < int64(n.slots.limit) || n.slots.member != nil) {
		n.serve(now, fx) // heavier work may have given way with w
	}
	return verdict
}

// enqueue passes w to a method of the queue, such as Join, and returns the queue's verdict.
func (n *Node) enqueue(w *queue.Waiter, join joining, now int64, fx *Effects) reply.Verdict {
	if n.queue == nil {
		n.queue = queue.New(n.conf.order)
	}
	verdict, evicted := join(n.queue, w, n.conf.queueTimeout, n.view(now))
	n.slots.flags.set(waiting, n.queue.Len() > 0)
	if !evicted.Empty() {
		n.turnAway(evicted, fx)
	}
	return verdict
}

// joining is Join of a queue, or another method like it.
type joining func(q *queue.Queue, w *queue.Waiter, timeout int64, v queue.View) (reply.Verdict, queue.Chain)

// Leave is called by the owner of a waiter to give up, because its caller is gone or its time in
// the queue is up. A waiter that was answered meanwhile keeps its answer, and its owner is woken as
// usual. But if the waiter was admitted and its caller is gone, its slot and its tokens of the pace
// go to the next waiter. Totals never fall, so its work counts as admitted and ignored.
func (n *Node) Leave(w *queue.Waiter, why reply.Verdict, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	defer n.slots.unlock()
	now = n.advance(now, fx)
	switch {
	case w.Verdict == reply.Waiting:
		if why == reply.QueueTimeout {
			why = w.Expiry()
		}
		n.answer(w, why, now)
	case w.Verdict == reply.Admitted && why == reply.Cancelled:
		w.Verdict = reply.Cancelled
		n.end(w.Ticket.Record, now, window.Ignore)
		n.slots.pace().owe(-w.Weight)
	default:
		why = w.Verdict
	}
	n.serve(now, fx)
	return why
}

// Recheck is called by the owner of a waiter when its Patience is over, or after a notice. After a
// notice told is set, and the waiter may be notified again. A waiter past its time in the queue
// leaves the queue. A waiter that a pace or a rest holds back starts if it can, and otherwise keeps
// waiting.
func (n *Node) Recheck(w *queue.Waiter, told bool, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	defer n.slots.unlock()
	underWay := w.RecheckDue && !told
	now = n.advance(now, fx)
	if w.Verdict == reply.Waiting && now >= w.Expires() {
		n.answer(w, w.Expiry(), now)
	}
	w.RecheckAt, w.RecheckDue = w.Expires(), true
	n.serve(now, fx)
	w.RecheckDue, w.Told = underWay, w.RecheckAt
	return w.Verdict
}
