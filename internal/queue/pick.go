package queue

// picksForOne bounds how long a lane can starve: of so many picks one is for a lower lane
// than the highest that waits, and for the one that has gone longest without. With k lower
// lanes, each has one pick of k times as many. In the scenario "priorities-3x" of
// package sim that costs the highest up to 0.4% of its goodput.
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

// recordService notes that w, which is in the queue no more, was served.
func (q *Queue) recordService(w *Waiter) {
	served := w.Lane
	if t := q.tenants(); t != nil {
		t.recordService(w)
	}
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

// forgetPicks has all lanes start anew.
func (q *Queue) forgetPicks() {
	q.picks = 0
	for i := range q.lanes {
		q.lanes[i].passed = 0
	}
}

// line returns the waiters eligible to be served next: of the tenant that has least, or all.
func (q *Queue) line(i int) (*lane, kind) {
	if t := q.tenants(); t != nil {
		return t.least(i), byTenant
	}
	return &q.lanes[i], byLane
}

// evictable returns the waiters eligible for eviction if the queue is too long, now that w has
// joined: the lowest lane that has any, though the one that is picked keeps its
// last; and in it the tenant that has most.
func (q *Queue) evictable(w *Waiter) (*lane, kind) {
	picked := q.pickLane()
	out := picked
	for i := len(q.lanes) - 1; i >= 0; i-- {
		if l := &q.lanes[i]; l.length > 1 || l.length == 1 && i != picked {
			out = i
			break
		}
	}
	if t := q.tenants(); t != nil {
		return t.most(out, w), byTenant
	}
	return &q.lanes[out], byLane
}
