package admit

import (
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// Full answers as Acquire and then Join would, but takes no slot and no place in the queue. A
// refusal counts as one, just as theirs would. Admitted and Waiting are the answers at this
// moment, and leave the node as it was. A node in shadow mode is never full.
func (n *Node) Full(w *queue.Waiter, now int64, fx *Effects) reply.Verdict {
	n.slots.lock()
	defer n.slots.unlock()
	now = n.advance(now, fx)
	if n.slots.flags&(shadow|closed) == shadow {
		return reply.Admitted
	}
	w.Arrive(now)
	verdict := reply.Overload
	if n.slots.flags&closed != 0 || !n.slots.pace().shedsNext(w.Weight) {
		verdict = n.consider(w.Weight, true, now, fx)
	}
	asked := verdict == reply.MustWait
	if asked {
		verdict = n.enqueue(w, (*queue.Queue).Refuse, now, fx)
	}
	if verdict.Refused() {
		if n.slots.flags&closed == 0 {
			n.slots.pace().sheds(w.Weight) // books its arrival
		}
		n.decline(w, verdict)
	}
	if asked && verdict.Refused() && (n.slots.inflight < int64(n.slots.limit) || n.slots.member != nil) {
		n.serve(now, fx) // heavier work may have given way with w
	}
	return verdict
}
