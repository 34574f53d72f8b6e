package queue

// picksForOne bounds how long a lane can starve. Of this number of picks, one pick is for a lane
// below the highest lane with waiters: for the lane that has been without a pick for longest. With
// k lower lanes, each gets one pick of k times this number. In the scenario "priorities-3x" of
// package sim these picks cost the highest lane up to 0.4% of its goodput.
const picksForOne = 20

// pickLane returns the lane that is served next, -1 if nothing waits: the highest, unless a
// lower one is due.
func (q *Queue) pickLane() int {
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
	if starved >= 0 && q.picks >= picksForOne-1 {
		return starved
	}
	return highest
}

// recordService notes that w, which has left the queue, was served.
func (q *Queue) recordService(w *Waiter) {
	served := w.Lane
	q.picks = min(q.picks+1, picksForOne-1)
	for i := range q.lanes {
		l := &q.lanes[i]
		if i == served {
			l.passed = 0
			continue
		}
		l.passed++
		if i < served && l.length > 0 {
			q.picks = 0
		}
	}
}

// forgetPicks resets the picks of all lanes.
func (q *Queue) forgetPicks() {
	q.picks = 0
	for i := range q.lanes {
		q.lanes[i].passed = 0
	}
}

// line returns the waiters of the lane that may be served next. With fairness they are the waiters
// of the tenant with the least running work, and otherwise all waiters of the lane.
func (q *Queue) line(i int) line {
	if t := q.tenants(); t != nil {
		return line{t.least(i), byTenant}
	}
	return line{&q.lanes[i], byLane}
}

// evictable returns the waiters eligible to be evicted from a queue that is too long, now that w
// has joined. They are in the lowest lane with waiters, though the picked lane keeps its last
// waiter. With fairness they are the waiters of the tenant with the most work.
func (q *Queue) evictable(w *Waiter) line {
	picked := q.pickLane()
	out := picked
	for i := Lanes - 1; i >= 0; i-- {
		if l := &q.lanes[i]; l.length > 1 || l.length == 1 && i != picked {
			out = i
			break
		}
	}
	if t := q.tenants(); t != nil {
		return line{t.mostIn(out, w), byTenant}
	}
	return line{&q.lanes[out], byLane}
}
