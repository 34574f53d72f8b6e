package admit

import "math"

// SetPace replaces the pace. Waiters are served as the new pace allows.
func (n *Node) SetPace(p Pace, now int64, fx *Effects) {
	n.slots.lock()
	defer n.slots.unlock()
	now = n.advance(now, fx)
	is := p != (Pace{})
	if is || n.slots.flags&paced != 0 {
		pacer := &n.slots.contended().coldPart().pacer
		if pacer.Rate == 0 {
			pacer.tokens = 0 // neither credit nor debt for the time without a rate
		}
		pacer.Pace = p
	}
	n.slots.flags.set(paced, is)
	n.serve(now, fx)
}

// SetCap bounds the work in flight in addition to the limit. Unlike the bounds of the limit, the
// cap may be 0. The law does not see the work that the cap holds back (decision 0007): the limit
// stays where it is, and applies again once the cap is above it. Waiters are served as the cap
// allows.
func (n *Node) SetCap(slots int, now int64, fx *Effects) {
	n.slots.lock()
	defer n.slots.unlock()
	now = n.advance(now, fx)
	n.slots.contended().coldPart().cap = int32(min(slots, math.MaxInt32))
	n.slots.flags.set(capped, true)
	n.serve(now, fx)
}
