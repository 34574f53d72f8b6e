package admit

import (
	"time"

	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// serve hands free slots to the waiters of the node and then of its group. It ends a shutdown when
// no work runs or waits.
func (n *Node) serve(now int64, fx *Effects) {
	for n.serveOne(now, fx) {
	}
	if n.slots.flags&shadow != 0 {
		n.serveVirtual(now, fx)
	}
	if n.slots.member != nil {
		n.slots.member.standInQueue(now, fx)
		n.slots.member.group.serve(now, fx)
	}
	n.endDrain()
}

// endDrain closes the channel that Drain returned if no work runs or waits.
func (n *Node) endDrain() {
	if c := n.slots.contention; c != nil && c.cold != nil && c.cold.empty != nil && n.slots.running() == 0 && n.queue.Len() == 0 {
		close(c.cold.empty)
		c.cold.empty = nil
	}
}

// serveOne answers the next waiter. It reports false if there is no waiter, or if the waiter has to
// wait on.
func (n *Node) serveOne(now int64, fx *Effects) bool {
	w := n.next(now, fx)
	if w == nil {
		return false
	}
	verdict := reply.Admitted
	switch {
	case now >= w.Expires():
		verdict = w.Expiry()
	case n.tooHeavy(w.Weight):
		verdict = reply.TooHeavy
	case w.HasDeadline() && !n.queue.InTime(w, n.view(now)):
		verdict = reply.Deadline
	case !n.slots.fits(w.Weight):
		n.slots.recheckSooner(w, now, fx)
		return false
	}
	n.answer(w, verdict, now)
	fx.Woken.Add(w)
	return true
}

// next returns the waiter to serve next, nil if there is none.
func (n *Node) next(now int64, fx *Effects) *queue.Waiter {
	if n.queue.Len() == 0 {
		return nil
	}
	w, evicted := n.queue.Next(n.view(now))
	if !evicted.Empty() {
		n.turnAway(evicted, fx)
	}
	return w
}

// answer takes a waiter out of the queue and answers it.
func (n *Node) answer(w *queue.Waiter, verdict reply.Verdict, now int64) {
	if verdict == reply.Admitted {
		n.queue.Take(w)
	} else {
		n.queue.Remove(w)
	}
	n.slots.flags.set(waiting, n.queue.Len() > 0)
	if verdict == reply.Admitted {
		n.admit(w, now)
	} else {
		n.decline(w, verdict)
	}
}

// admit starts the work of a waiter. The latency counts from here, because time in the queue says
// nothing about the downstream.
func (n *Node) admit(w *queue.Waiter, now int64) {
	w.Verdict = reply.Admitted
	w.Ticket = n.register(w.Tenant, w.Weight, now).Ticket()
	n.slots.take(w.Weight, now)
	if waited := w.Waited(now); waited > 0 {
		n.slots.bookWait(waited)
		n.slots.meter.Queued(waited)
		w.Queued = waited
	}
}

func (n *Node) register(tenant uint16, weight int, now int64) *reply.Record {
	r := n.slots.records().use(weight, now)
	n.admitted++
	if n.slots.flags&tenanted != 0 {
		n.queue.Start(r, tenant)
	}
	return r
}

// turnAway declines the evicted waiters and notifies their owners.
func (n *Node) turnAway(evicted queue.Chain, fx *Effects) {
	n.slots.flags.set(waiting, n.queue.Len() > 0)
	for w := range evicted.All() {
		n.decline(w, w.Verdict)
	}
	fx.Woken.Append(evicted)
}

// decline gives a waiter that is in no lane any verdict but Admitted.
func (n *Node) decline(w *queue.Waiter, why reply.Verdict) {
	w.Verdict = why
	if why == reply.Cancelled {
		n.slots.contended().count(why)
		return
	}
	w.RetryAfter, w.Seq = n.refuse(why, w.Weight), n.events.next()
}

// refuse counts a refusal and returns the delay of a retry.
func (n *Node) refuse(v reply.Verdict, weight int) int64 {
	n.slots.hear(v, weight)
	n.slots.contended().count(v)
	if v == reply.Closed {
		return 0
	}
	if v == reply.PushedBack {
		return n.slots.contention.awayFor(n.last)
	}
	ahead := backlog{max(int(n.admitted-n.completed), 1), n.queue.Len(), n.queue.Weight()}
	return n.slots.retryAfter(weight, ahead, n.last)
}

// soonest is the least time until a waiter looks again. A waiter is notified of an earlier time
// only if that time is earlier by more than soonest.
const soonest = int64(time.Millisecond)

// recheckSooner makes w, the first waiter, look again when the pace or a resting slot lets it
// start, because no other call may come at that moment. The waiters behind it need no notice: once
// w starts, the next waiter is first.
func (s *slots) recheckSooner(w *queue.Waiter, now int64, fx *Effects) {
	var due int64
	switch {
	case !s.pace().ready():
		due = now + max(s.pace().bucket().Delay(0), soonest)
	case s.flags&resting != 0:
		due = max(s.contention.cold.rests.next(), now+soonest)
	default:
		return
	}
	if due+soonest >= w.RecheckAt {
		return
	}
	w.RecheckAt = due
	fx.Woken.Recheck(w)
}
