package admit

import (
	"github.com/weir-go/weir/internal/reply"
)

// Work describes a request for admission.
type Work struct {
	Weight   int
	Tenant   uint16 // the hash of the tenant's name, 0 without one
	Deadline int64  // on the scale of the node's time, 0 without one
	NoWait   bool   // refuse the work if it would have to wait
}

// Acquire admits work and sets t to its ticket, or returns the reason why the work may not start.
// MustWait means that the work has to queue: the caller then calls Join with a waiter.
//
// Work is admitted at once if it fits and no window is due. Only acquireSlow calls the law.
func (n *Node) Acquire(t *reply.Ticket, w Work, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	if n.slots.contention != nil {
		n.slots.contention.arrive(w.Deadline, now)
	}
	if now < n.due && n.slots.flags&^(holding|alone|capped) == 0 && n.slots.inflight+int64(w.Weight) <= int64(n.slots.ceiling()) &&
		(n.slots.member == nil || n.slots.member.group.queue.empty() && n.slots.member.hasRoom(int64(w.Weight))) {
		now = n.flow(now)
		*t = n.slots.records().use(w.Weight, now).Ticket()
		n.admitted++
		n.slots.take(w.Weight, now)
		n.slots.unlock()
		return reply.Admitted
	}
	return n.acquireSlow(t, w, now, fx)
}

// acquireSlow is the slow path of Acquire. It unlocks even if the law calls runtime.Goexit.
func (n *Node) acquireSlow(t *reply.Ticket, w Work, now int64, fx *Effects) reply.Verdict {
	defer n.slots.unlock()
	now = n.advance(now, fx)
	if n.slots.flags&(shadow|closed) == shadow {
		*t = n.acquireInShadow(w, now, fx)
		return reply.Admitted
	}
	verdict := n.consider(w.Weight, !w.NoWait, now, fx)
	switch {
	case verdict == reply.Admitted:
		*t = n.register(w.Tenant, w.Weight, now).Ticket()
		n.slots.take(w.Weight, now)
		if n.slots.member != nil {
			n.slots.member.group.serve(now, fx) // the shares changed, so other members may be first
		}
	case verdict.Refused():
		fx.RetryAfter = n.refuse(verdict, w.Weight)
		fx.Seq = n.events.next()
	}
	return verdict
}

// consider decides on work that arrives now, behind the current waiters.
func (n *Node) consider(weight int, patient bool, now int64, fx *Effects) reply.Verdict {
	if n.slots.flags&waiting != 0 && (n.slots.inflight < int64(n.slots.limit) || n.queue.Full(n.conf.queueSize)) {
		n.turnAway(n.queue.Expire(now), fx)
		n.serve(now, fx)
	} else if n.slots.member != nil && n.slots.member.isHeldBack(int64(weight)) {
		n.slots.member.group.serve(now, fx)
	}
	switch {
	case n.slots.flags&closed != 0:
		return reply.Closed
	case n.slots.staysAway(now):
		return reply.PushedBack
	case n.tooHeavy(weight):
		return reply.TooHeavy
	case n.slots.flags&waiting == 0 && n.slots.fits(weight):
		return reply.Admitted
	case (!patient || !n.conf.queues) && n.slots.awaitsPace():
		return reply.Paced
	case !patient, !n.conf.queues:
		return reply.LimitReached
	}
	return reply.MustWait
}
