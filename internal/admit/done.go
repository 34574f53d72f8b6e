package admit

import (
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Done takes a ticket back, and reports whether the ticket was out. Done changes nothing for a
// ticket that was back.
func (n *Node) Done(t reply.Ticket, now int64, outcome window.Outcome, fx *Effects) bool {
	n.slots.lock()
	r := t.Out()
	if r == nil {
		n.slots.unlock()
		return false
	}
	if n.slots.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.slots.flags&shadow == 0 && n.slots.saturated() && !n.slots.awaitsPace() {
		n.slots.contended().completed(n.slots.limit)
	}
	fx.Heard = !r.Has(reply.Measured)
	n.end(r, now, outcome)
	if n.closes(n.slots.meter, now) {
		n.pass(now, fx)
		return true
	}
	n.handOn(now, fx)
	n.slots.unlock()
	return true
}

// Measure records the outcome of work that still runs and holds its slots. From then on the
// law sees neither the work nor its slots. If the work was measured before, or has ended,
// nothing changes.
func (n *Node) Measure(t reply.Ticket, now int64, outcome window.Outcome, fx *Effects) {
	n.slots.lock()
	r := t.Out()
	if r == nil || r.Has(reply.Measured) {
		n.slots.unlock()
		return
	}
	if n.slots.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	fx.Heard = true
	if n.slots.flags&shadow == 0 {
		n.slots.meter.Done(r.Start, now, int(r.Weight), outcome)
		n.slots.hold(int64(r.Weight), n.conf.reach(n.decided, n.slots.limit))
	} else {
		n.slots.double().measure(r, now, outcome, n.conf.reach(n.decided, n.slots.limit))
	}
	n.outcomes.count(outcome, now, &n.slots)
	n.slots.contended().coldPart().heard++
	r.Marks |= reply.Measured
	n.pass(now, fx)
}

// pass ends a call that recorded an outcome: it closes the window if the window is due, hands slots
// on and unlocks.
func (n *Node) pass(now int64, fx *Effects) {
	defer n.slots.unlock()
	if n.closes(n.slots.meter, now) {
		n.closeWindow(now, fx)
	}
	n.handOn(now, fx)
}

// handOn serves waiters with the slots of ended work. The queue of an idle node forgets its
// picks, and is dropped once it has no state left.
func (n *Node) handOn(now int64, fx *Effects) {
	if n.slots.flags&^(holding|capped) != 0 || n.slots.member != nil && !n.slots.member.group.queue.empty() {
		n.serve(now, fx)
	}
	if n.slots.inflight == 0 && n.queue != nil && n.queue.Len() == 0 && n.queue.Rest() {
		n.queue = nil
	}
}

// end books the end of a piece of work.
func (n *Node) end(r *reply.Record, now int64, outcome window.Outcome) {
	measured := r.Has(reply.Measured)
	switch {
	case n.slots.flags&shadow != 0:
		n.slots.double().end(r, now, outcome, n.conf.reach(n.decided, n.slots.limit))
	case measured:
		n.slots.free(int64(r.Weight))
		n.slots.hold(-int64(r.Weight), n.conf.reach(n.decided, n.slots.limit))
	default:
		n.slots.free(int64(r.Weight))
		n.slots.meter.Done(r.Start, now, int(r.Weight), outcome)
		n.slots.letRest(r, now, outcome)
	}
	if r.Has(reply.Tenanted) {
		n.queue.Reweigh(r, -int64(r.Weight))
	}
	n.completed++
	if measured {
		n.slots.contention.cold.heard--
	} else {
		n.outcomes.count(outcome, now, &n.slots)
	}
	n.slots.records().retire(r)
}
