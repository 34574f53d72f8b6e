package admit

// Close refuses whoever arrives or waits from now on. What runs is left alone.
func (n *Node) Close(now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	n.flags.set(closed, true)
	for q := n.queue; q != nil && q.length > 0; {
		n.reject(q.lowest(), Closed, fx)
	}
	n.serve(now, fx)
}

// Forbid counts work that was refused outside the node, with the verdict, and so
// tells the law nothing. It reports false for a shadow node, which only counts
// what it would have refused.
func (n *Node) Forbid(v Verdict, now int64, fx *Effects) bool {
	n.lock()
	defer n.unlock()
	n.advance(now, fx)
	fx.Seq = n.nextEvent()
	if n.flags&(shadow|closed) == shadow {
		n.pressed().rare().wouldRefuse++
		fx.Notable, fx.WouldRefuse = true, v
		return false
	}
	n.pressed().turnAway(v)
	return true
}

// Drain refuses whoever arrives from now on. The channel is closed when what
// waits and what runs is done.
func (n *Node) Drain(now int64, fx *Effects) <-chan struct{} {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	n.flags.set(closed, true)
	rare := n.pressed().rare()
	if rare.empty == nil {
		rare.empty = make(chan struct{})
	}
	empty := rare.empty
	n.serve(now, fx)
	return empty
}

// endDrain closes the channel that Drain returned if nothing is left.
func (n *Node) endDrain() {
	if p := n.pressure; p != nil && p.seldom != nil && p.seldom.empty != nil && n.inflight == 0 && n.queued() == 0 {
		close(p.seldom.empty)
		p.seldom.empty = nil
	}
}
