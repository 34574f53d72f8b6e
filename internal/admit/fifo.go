package admit

// joinInOrder is join for a queue that serves first in, first out. Who came last
// gives way.
func (n *Node) joinInOrder(w *Waiter, now int64, fx *Effects) Verdict {
	if !n.reachable(w, now) {
		return Deadline
	}
	full := n.full()
	n.insert(w)
	if full {
		out := n.queue.surplus().newest
		if out == w {
			n.unlink(w)
			return QueueFull
		}
		n.reject(out, QueueFull, now, fx)
	}
	return Waiting
}

// first returns the oldest waiter of the lane whose turn it is.
func (q *queue) first() *Waiter {
	if i := q.turn(); i >= 0 {
		return q.lanes[i].oldest()
	}
	return nil
}

// lowest returns the oldest waiter of the lowest lane that has any.
func (q *queue) lowest() *Waiter {
	for i := len(q.lanes) - 1; i >= 0; i-- {
		if w := q.lanes[i].oldest(); w != nil {
			return w
		}
	}
	return nil
}

// expire answers those whose time is up but whose own timer was not yet heard,
// so that they take no place from a newcomer.
func (n *Node) expire(now int64, fx *Effects) {
	for i := range n.queue.lanes {
		for w := n.queue.lanes[i].oldest(); w != nil && now >= w.expires; w = n.queue.lanes[i].oldest() {
			n.reject(w, w.expiry(), now, fx)
		}
	}
}
