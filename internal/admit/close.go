package admit

import (
	"github.com/weir-go/weir/internal/reply"
)

// Close refuses new arrivals and current waiters. Running work is left alone.
func (n *Node) Close(now int64, fx *Effects) {
	n.slots.lock()
	defer n.slots.unlock()
	n.slots.flags.set(closed, true)
	now = n.advance(now, fx)
	if n.queue.Len() > 0 {
		n.turnAway(n.queue.Clear(reply.Closed), fx)
	}
	n.serve(now, fx)
}

// Forbid counts work that was refused outside the node, or whose caller was gone before the node
// could decide. The law does not see such work. It returns false for a refusal by a shadow node,
// which only counts the refusal.
func (n *Node) Forbid(v reply.Verdict, now int64, fx *Effects) bool {
	n.slots.lock()
	defer n.slots.unlock()
	n.advance(now, fx)
	if v.Refused() {
		fx.Seq = n.events.next()
		if n.slots.flags&(shadow|closed) == shadow {
			n.slots.contended().coldPart().wouldRefuse++
			fx.Notable, fx.WouldRefuse = true, v
			return false
		}
	}
	n.slots.contended().count(v)
	return true
}

// Drain refuses new arrivals. The channel is closed when all waiting and running work is
// done.
func (n *Node) Drain(now int64, fx *Effects) <-chan struct{} {
	n.slots.lock()
	defer n.slots.unlock()
	n.slots.flags.set(closed, true)
	now = n.advance(now, fx)
	cold := n.slots.contended().coldPart()
	if cold.empty == nil {
		cold.empty = make(chan struct{})
	}
	empty := cold.empty
	n.serve(now, fx)
	return empty
}
