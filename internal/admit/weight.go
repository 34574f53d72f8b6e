package admit

import "github.com/weir-go/weir/internal/reply"

// tooHeavy reports whether work of the given weight will have no room.
func (n *Node) tooHeavy(weight int) bool {
	return weight > int(n.conf.max) || n.slots.tooHeavy(weight)
}

// SetWeight changes the slots of running work, and the tokens of the pace that the work took. Slots
// that the work gives up go to waiters. Additional slots may exceed the limit. If the ticket is
// back, nothing changes.
func (n *Node) SetWeight(t reply.Ticket, weight int, now int64, fx *Effects) {
	n.slots.lock()
	defer n.slots.unlock()
	r := t.Out()
	if r == nil {
		return
	}
	now = n.advance(now, fx)
	more := int64(weight) - int64(r.Weight)
	taken := more
	if n.slots.flags&shadow != 0 {
		taken = n.slots.double().reweigh(r, more)
	}
	n.slots.free(-taken)
	if r.Has(reply.Measured) {
		n.slots.hold(taken, n.conf.reach(n.decided, n.slots.limit))
	}
	n.slots.meter.Rise(int(n.slots.measuring()))
	n.slots.pace().owe(int(taken))
	if r.Has(reply.Tenanted) {
		n.queue.Reweigh(r, more)
	}
	r.Weight = int32(weight)
	n.slots.contended().coldPart().corrected += more
	n.serve(now, fx)
}

// Corrected is the weight that SetWeight added to work, less the weight that it took away.
func (n *Node) Corrected() int64 {
	n.slots.lock()
	defer n.slots.unlock()
	if n.slots.contention == nil || n.slots.contention.cold == nil {
		return 0
	}
	return n.slots.contention.cold.corrected
}
