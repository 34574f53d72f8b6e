package queue

// An absence is the former place of a waiter that stepped out of a queue. Waiters step back
// in the reverse order.
type absence struct {
	w      *Waiter
	links  [kinds]link
	newest [kinds]*Waiter
}

// stepOut takes w out of the queue for a moment. The order is not notified.
func (q *Queue) stepOut(w *Waiter) absence {
	a := absence{w: w, links: w.links}
	a.newest[byLane] = q.lanes[w.Lane].newest
	if t := q.tenants(); t != nil {
		a.newest[byTenant] = t.lineOf(w).newest
	}
	q.unlink(w)
	return a
}

// stepBack puts a waiter back in its place.
func (q *Queue) stepBack(a absence) {
	q.lanes[a.w.Lane].putBack(a, byLane)
	if t := q.tenants(); t != nil {
		t.lineOf(a.w).putBack(a, byTenant)
		t.waiting[t.of(a.w)] += int64(a.w.Weight)
	}
	q.count(a.w, 1)
}

func (l *lane) putBack(a absence, k kind) {
	at := a.links[k]
	a.w.links[k] = at
	at.prev.links[k].next, at.next.links[k].prev = a.w, a.w
	l.newest = a.newest[k]
	l.length++
}
