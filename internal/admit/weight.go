package admit

import "github.com/weir-go/weir/internal/reply"

// RunAlone lets work heavier than the limit, up to the given weight, run once nothing else
// does, instead of being refused. It is called before there is work.
func (s *slots) RunAlone(most int) {
	s.lock()
	defer s.unlock()
	s.contended().coldPart().alone = int32(most)
	s.flags.set(alone, true)
}

// SetWeight changes the slots of running work, and the tokens that it took of the pace. Slots
// that it gives up go to waiters. Additional slots may exceed the limit. If the ticket is
// back, nothing changes.
func (n *Node) SetWeight(t reply.Ticket, weight int, now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	r := t.Out()
	if r == nil {
		return
	}
	now = n.advance(now, fx)
	more := int64(weight) - int64(r.Weight)
	taken := more
	if n.flags&shadow != 0 {
		taken = n.reweighInShadow(r, more)
	}
	n.free(-taken)
	if r.Has(reply.Measured) {
		n.hold(taken, n.conf.reach(n.decided, n.limit))
	}
	n.meter.Rise(int(n.measuring()))
	n.owe(int(taken))
	if r.Stamp != 0 {
		n.queue.Reweigh(r, more)
	}
	r.Weight = int32(weight)
	n.contended().coldPart().corrected += more
	n.serve(now, fx)
}

// Corrected is the weight that SetWeight added to work, less what it took away.
func (s *slots) Corrected() int64 {
	s.lock()
	defer s.unlock()
	if s.contention == nil || s.contention.cold == nil {
		return 0
	}
	return s.contention.cold.corrected
}

// reweighInShadow changes the weight of real work. It returns the change of its virtual work,
// part of which may have ended.
func (s *slots) reweighInShadow(r *reply.Record, more int64) int64 {
	v := s.virtual()
	v.Reweigh(r, more)
	if r.Has(reply.Measured) {
		if r.Has(reply.Virtually) {
			return max(more, -s.held())
		}
		return 0
	}
	own := v.Own(r)
	if own == nil {
		return 0
	}
	taken := max(more, 1-int64(own.Left))
	own.Left += int32(taken)
	own.Weight = max(own.Weight+int32(more), own.Left)
	return taken
}
