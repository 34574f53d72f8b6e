package admit

import (
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Done takes a ticket back. It reports whether the ticket was out; if not,
// nothing changes.
func (n *Node) Done(t *reply.Ticket, now int64, outcome window.Outcome, fx *Effects) bool {
	n.lock()
	if t.Is == reply.Back {
		n.unlock()
		return false
	}
	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.completed == n.admitted || int64(t.Weight) > n.running() {
		n.misused(t, now, fx)
		n.unlock()
		return false
	}
	if n.flags&shadow == 0 && n.saturated() && !n.awaitsPace() {
		n.contended().completed(n.limit)
	}
	n.end(t, now, outcome)
	if now >= n.due || n.sampled(n.meter) {
		n.doneLast(t, now, fx)
		return true
	}
	n.handOn(t, now, fx)
	n.unlock()
	return true
}

// doneLast ends a window. If the law ends the goroutine, which never comes to the effects, it unlocks all
// the same, hands the slots on and wakes who got them.
func (n *Node) doneLast(t *reply.Ticket, now int64, fx *Effects) {
	exits := true
	defer func() {
		n.handOn(t, now, fx)
		n.unlock()
		if exits {
			fx.Woken.Wake()
		}
	}()
	n.closeWindow(now, fx)
	exits = false
}

// handOn serves waiters with what a ticket held. The queue of an idle node forgets its picks, and is
// dropped if it knows no more.
func (n *Node) handOn(t *reply.Ticket, now int64, fx *Effects) {
	switch {
	case n.flags != 0:
		n.serve(now, fx)
	case n.member != nil && !n.member.group.line.empty():
		n.member.offer(int64(t.Weight), now, fx)
	}
	if n.inflight == 0 && n.queue != nil && n.queue.Len() == 0 && n.queue.Rest() {
		n.queue = nil
	}
}

// end books the end of a piece of work.
func (n *Node) end(t *reply.Ticket, now int64, outcome window.Outcome) {
	if n.flags&shadow == 0 {
		n.free(int64(t.Weight))
		n.meter.Ended(t.Start, now, t.Weight, outcome)
	} else {
		n.endInShadow(t, now, outcome)
	}
	if t.Stamp != 0 {
		n.queue.End(t)
	}
	n.completed++
	if outcome != window.Success {
		n.outcomes.count(outcome)
	}
	t.Is = reply.Back
}

// misused deals with a ticket whose slots are free already: a copy of another
// one took them. What is left of them must not be lost.
func (n *Node) misused(t *reply.Ticket, now int64, fx *Effects) {
	fx.Notable, fx.Misused, fx.Seq = true, true, n.nextEvent()
	left := reply.Ticket{Start: t.Start, Weight: int32(min(int64(t.Weight), n.running()))}
	switch {
	case n.completed < n.admitted:
		n.end(&left, now, window.Ignore)
	case n.flags&shadow != 0:
		n.virtual().Running -= int64(left.Weight)
	default:
		n.free(int64(left.Weight))
	}
	n.queue.End(t)
	t.Is = reply.Back
	n.serve(now, fx)
}
