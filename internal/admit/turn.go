package admit

// turnsForOne bounds how long a lane can starve: of so many turns one is for a lower lane
// than the highest that waits, and for the one that has gone longest without. With k lower
// lanes, each has one turn of k times as many. In the scenario "priorities-3x" of
// package sim that costs the highest up to 0.4% of its goodput.
const turnsForOne = 20

// turn returns the lane whose turn it is, -1 if nobody waits: the highest, unless a
// lower one is due.
func (q *queue) turn() int {
	highest, starved := -1, -1
	for i := range q.lanes {
		switch l := &q.lanes[i]; {
		case l.length == 0:
		case highest < 0:
			highest = i
		case starved < 0 || l.passed >= q.lanes[starved].passed:
			starved = i
		}
	}
	if starved >= 0 && q.passed >= turnsForOne-1 {
		return starved
	}
	return highest
}

// took notes that w, which is in the queue no more, had its turn.
func (n *Node) took(w *Waiter) {
	q, turn := n.queue, w.Lane
	if t := n.tenants(); t != nil {
		t.took(w)
	}
	q.passed = min(q.passed+1, turnsForOne-1)
	for i := range q.lanes {
		l := &q.lanes[i]
		if i == turn {
			l.passed = 0
			continue
		}
		l.passed++
		if i < turn && l.length > 0 {
			q.passed = 0
		}
	}
}

// forgetTurns has all lanes start anew.
func (q *queue) forgetTurns() {
	q.passed = 0
	for i := range q.lanes {
		q.lanes[i].passed = 0
	}
}

// line returns those in the lane whose turn it is: of the tenant that has least, or all.
func (n *Node) line(i int) (*lane, kind) {
	if t := n.tenants(); t != nil {
		return t.least(i), byTenant
	}
	return &n.queue.lanes[i], byLane
}

// surplus returns those who give one of them up if the queue is too long, now that w has
// joined: the lowest lane that has any, though the one whose turn it is keeps its
// last; and in it the tenant that has most.
func (n *Node) surplus(w *Waiter) (*lane, kind) {
	q := n.queue
	turn := q.turn()
	out := turn
	for i := len(q.lanes) - 1; i >= 0; i-- {
		if l := &q.lanes[i]; l.length > 1 || l.length == 1 && i != turn {
			out = i
			break
		}
	}
	if t := n.tenants(); t != nil {
		return t.most(out, w), byTenant
	}
	return &q.lanes[out], byLane
}
