package queue

import "github.com/weir-go/weir/internal/reply"

// Join puts w, which may wait until the timeout is over, into its lane and returns Waiting, or
// returns the reason why w may not wait. It may evict other waiters.
func (q *Queue) Join(w *Waiter, timeout int64, v View) (verdict reply.Verdict, evicted Chain) {
	evicted = q.receive(w, timeout, v)
	q.learn(w, v.Now)
	verdict = q.discipline.screen(w, q.outlook(w, v))
	w.RecheckAt = w.expires
	if verdict != reply.Waiting {
		return verdict, evicted
	}
	full := q.isFull(v)
	q.link(w)
	q.discipline.added(w)
	if !full {
		return reply.Waiting, evicted
	}
	out := q.givesWay(w)
	why := q.lack(out, v)
	if out == w {
		q.Remove(w)
		return why, evicted
	}
	q.evict(out, why, &evicted)
	q.discipline.gaveWay(out, v.Now)
	return reply.Waiting, evicted
}

// Refuse is Join for a waiter that only asks. If Join would refuse w, Refuse does so, with all the
// effects. Otherwise Refuse returns Waiting, and w does not wait. Refuse may evict late waiters.
func (q *Queue) Refuse(w *Waiter, timeout int64, v View) (verdict reply.Verdict, evicted Chain) {
	evicted = q.receive(w, timeout, v)
	if q.hasRoomFor(w, v) {
		return reply.Waiting, evicted
	}
	verdict, more := q.Join(w, timeout, v)
	evicted.Append(more)
	return verdict, evicted
}

// receive fills in the fields of a newcomer, and evicts late waiters.
func (q *Queue) receive(w *Waiter, timeout int64, v View) (evicted Chain) {
	w.Lane = min(max(w.Lane, 0), Lanes-1)
	w.patience, w.expires = timeout, v.Now+timeout
	if w.Deadline == 0 {
		w.Deadline = noDeadline
	}
	w.latest = noDeadline
	w.Verdict = reply.Waiting
	q.dropLate(v.Now, &evicted)
	return evicted
}

// hasRoomFor reports whether w would wait if it joined. It does not change the queue.
func (q *Queue) hasRoomFor(w *Waiter, v View) bool {
	if w.HasDeadline() {
		before := q.coldPart().given
		defer func() { q.cold.given = before }()
		q.learn(w, v.Now)
	}
	if q.discipline.screen(w, q.outlook(w, v)) != reply.Waiting {
		return false
	}
	if !q.isFull(v) {
		return true
	}
	q.link(w)
	defer q.unlink(w)
	return q.givesWay(w) != w
}

// isFull reports whether one more waiter would be too many. After the size was lowered, a longer
// queue shrinks only as its waiters are served.
func (q *Queue) isFull(v View) bool { return int(q.length) >= q.order.Size(int(v.Size)) }

// givesWay returns the waiter to evict, now that w has joined. It may be w.
func (q *Queue) givesWay(w *Waiter) *Waiter { return q.discipline.yields(q.evictable(w)) }

// lack returns the reason for evicting a waiter from a full queue.
func (q *Queue) lack(out *Waiter, v View) reply.Verdict {
	if t := q.tenants(); t != nil && t.aboveShare(out, int(v.Limit)) {
		return reply.OverShare
	}
	return reply.QueueFull
}
