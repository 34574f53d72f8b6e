package admit

import (
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Join answers the waiter if that is possible at once, and otherwise lets it
// queue: then its owner is woken when it is answered, unless it leaves before.
func (n *Node) Join(w *queue.Waiter, now int64, fx *Effects) reply.Verdict {
	n.lock()
	defer n.unlock()
	w.Verdict = reply.MustWait // should the law end the goroutine: there is nothing to give back
	now = n.advance(now, fx)
	w.Arrive(now)
	if n.flags&(shadow|closed) == shadow {
		w.Ticket = n.acquireInShadow(Work{Tenant: w.Tenant, Weight: w.Weight}, now, true, fx)
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
	w.RecheckDue = true // its owner is about to hear
	if n.inflight < int64(n.limit) || n.member != nil {
		n.serve(now, fx) // it may go ahead of heavier work
	}
	w.RecheckDue, w.Told = false, w.RecheckAt
	return verdict
}

// enqueue has w join the queue, or ask it in another way, and returns the queue's verdict.
func (n *Node) enqueue(w *queue.Waiter, join joining, now int64, fx *Effects) reply.Verdict {
	if n.queue == nil {
		n.queue = n.conf.newQueue(n.view(now), n.flags&paced != 0)
	}
	if n.flags&tenanted != 0 {
		n.queue.ShuffleTenants(now, n.inflight)
	}
	verdict, evicted := join(n.queue, w, n.conf.queueTimeout, n.view(now))
	n.flags.set(waiting, n.queue.Len() > 0)
	if !evicted.Empty() {
		n.turnAway(evicted, fx)
	}
	return verdict
}

// joining is Join of a queue, or another method like it.
type joining func(q *queue.Queue, w *queue.Waiter, timeout int64, v queue.View) (reply.Verdict, queue.Chain)

// Leave is how the owner of a waiter gives up: because its caller is gone, or
// because its time in the queue is up. A waiter that was answered meanwhile
// keeps its answer, and its owner is woken as ever; but if it was admitted for a
// caller that is gone, the slot and its tokens of the pace go to the next.
// Totals never fall, so that one counts as admitted and ignored.
func (n *Node) Leave(w *queue.Waiter, why reply.Verdict, now int64, fx *Effects) reply.Verdict {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	switch {
	case w.Verdict == reply.Waiting:
		if why == reply.QueueTimeout {
			why = w.Expiry()
		}
		n.remove(w)
		n.decline(w, why)
	case w.Verdict == reply.Admitted && why == reply.Cancelled:
		w.Verdict = reply.Cancelled
		n.end(w.Ticket.Record, now, window.Ignore)
		n.owe(-w.Weight)
	default:
		why = w.Verdict
	}
	n.serve(now, fx)
	return why
}

// The owner of a waiter calls Recheck when its Patience is over, or when it was asked to:
// told says so, and then the waiter may be asked again. A waiter with its time in the queue up
// leaves it; one that a pace holds back starts if it can, and goes on waiting if not.
func (n *Node) Recheck(w *queue.Waiter, told bool, now int64, fx *Effects) reply.Verdict {
	n.lock()
	defer n.unlock()
	underWay := w.RecheckDue && !told
	now = n.advance(now, fx)
	if w.Verdict == reply.Waiting && now >= w.Expires() {
		n.remove(w)
		n.decline(w, w.Expiry())
	}
	w.RecheckAt, w.RecheckDue = w.Expires(), true
	if told && n.member != nil {
		n.member.group.look(w)
	}
	n.serve(now, fx)
	again := n.member != nil && n.member.group.onOffer() > 0 && n.member.group.offered.to == w
	w.RecheckDue, w.Told = underWay, w.RecheckAt
	if again {
		fx.Woken.Recheck(w)
	}
	return w.Verdict
}

// Cancel counts a request whose caller was gone before it could ask.
func (n *Node) Cancel(now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	n.advance(now, fx)
	n.contended().cancelled++
}
