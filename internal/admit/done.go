package admit

import (
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Done takes a ticket back. It reports whether the ticket was out; if not,
// nothing changes.
func (n *Node) Done(t reply.Ticket, now int64, outcome window.Outcome, fx *Effects) bool {
	n.lock()
	r := t.Out()
	if r == nil {
		n.unlock()
		return false
	}
	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.flags&shadow == 0 && n.saturated() && !n.awaitsPace() {
		n.contended().completed(n.limit)
	}
	weight := int64(r.Weight)
	n.end(r, now, outcome)
	if now >= n.due || n.sampled(n.meter) {
		n.doneLast(weight, now, fx)
		return true
	}
	n.handOn(weight, now, fx)
	n.unlock()
	return true
}

// doneLast ends a window. If the law ends the goroutine, which never comes to the effects, it unlocks all
// the same, hands the slots on and wakes who got them.
func (n *Node) doneLast(weight, now int64, fx *Effects) {
	exits := true
	defer func() {
		n.handOn(weight, now, fx)
		n.unlock()
		if exits {
			fx.Woken.Wake()
		}
	}()
	n.closeWindow(now, fx)
	exits = false
}

// handOn serves waiters with what work held. The queue of an idle node forgets its picks, and is
// dropped if it knows no more.
func (n *Node) handOn(weight, now int64, fx *Effects) {
	switch {
	case n.flags != 0:
		n.serve(now, fx)
	case n.member != nil && !n.member.group.line.empty():
		n.member.offer(weight, now, fx)
	}
	if n.inflight == 0 && n.queue != nil && n.queue.Len() == 0 && n.queue.Rest() {
		n.queue = nil
	}
}

// end books the end of a piece of work.
func (n *Node) end(r *reply.Record, now int64, outcome window.Outcome) {
	if n.flags&shadow == 0 {
		n.free(int64(r.Weight))
		n.meter.Ended(r.Start, now, r.Weight, outcome)
	} else {
		n.endInShadow(r, now, outcome)
	}
	if r.Stamp != 0 {
		n.queue.End(r)
	}
	n.completed++
	if outcome != window.Success {
		n.outcomes.count(outcome)
	}
	n.records().retire(r)
}
