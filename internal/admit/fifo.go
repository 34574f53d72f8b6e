package admit

// joinInOrder is join for a queue that serves first in, first out. Who came last
// gives way.
func (n *Node) joinInOrder(w *Waiter, now int64, fx *Effects) Verdict {
	if !n.reachable(w, now) {
		return Deadline
	}
	if now+n.paceDelay(n.weightUpTo(w.Lane)) >= w.expires {
		return QueueFull // to wait for nothing helps nobody
	}
	full := n.full()
	n.insert(w)
	if full {
		line, _ := n.surplus(w)
		return n.giveWay(line.newest, w, fx)
	}
	return Waiting
}

// giveWay refuses out to make room for w, which may be the same, and answers for w.
func (n *Node) giveWay(out, w *Waiter, fx *Effects) Verdict {
	why := QueueFull
	if t := n.tenants(); t != nil && t.aboveShare(out, int(n.limit)) {
		why = OverShare
	}
	if out == w {
		n.unlink(w)
		return why
	}
	n.reject(out, why, fx)
	return Waiting
}

// first returns the oldest waiter of the lane, and the tenant, whose turn it is.
func (n *Node) first() *Waiter {
	i := n.queue.turn()
	if i < 0 {
		return nil
	}
	line, k := n.line(i)
	return line.oldest(k)
}

// lowest returns the oldest waiter of the lowest lane that has any.
func (q *queue) lowest() *Waiter {
	for i := len(q.lanes) - 1; i >= 0; i-- {
		if w := q.lanes[i].oldest(byLane); w != nil {
			return w
		}
	}
	return nil
}

// expire answers those whose time is up but whose own timer was not yet heard,
// so that they take no place from a newcomer.
func (n *Node) expire(now int64, fx *Effects) {
	for i := range n.queue.lanes {
		l := &n.queue.lanes[i]
		for w := l.oldest(byLane); w != nil && now >= w.expires; w = l.oldest(byLane) {
			n.reject(w, w.expiry(), fx)
		}
	}
}
