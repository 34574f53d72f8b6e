package admit

// SetPace replaces the pace. Waiters are served as it allows.
func (n *Node) SetPace(p Pace, now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	was, is := n.flags&paced != 0, p != (Pace{})
	if was || is {
		pacer := &n.contended().coldPart().pacer
		if !was || pacer.Rate == 0 {
			pacer.tokens = 0 // neither credit nor debt for the time without a rate
		}
		pacer.Pace = p
	}
	if was != is && n.queue != nil {
		n.queue.Weigh(is)
	}
	n.flags.set(paced, is)
	n.serve(now, fx)
}

// Pace returns the pace.
func (s *slots) Pace() Pace {
	s.lock()
	defer s.unlock()
	if s.flags&paced == 0 {
		return Pace{}
	}
	return s.contention.cold.pacer.Pace
}
