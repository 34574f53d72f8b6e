package admit

import "math"

// SetCap bounds the work in flight besides the limit. Unlike the limit's bounds it may be 0, and
// the law learns nothing of work that it holds back (decision 0007): the limit stays where it is,
// and counts again once the cap is above it. Those who wait are served as the cap allows.
func (n *Node) SetCap(slots int, now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	n.contended().coldPart().cap = int32(min(slots, math.MaxInt32))
	n.flags.set(capped, true)
	n.serve(now, fx)
}
