package queue

import (
	"slices"

	"github.com/weir-go/weir/internal/reply"
)

// Join puts w, which may wait until the timeout is over, into its lane and returns Waiting,
// or returns the reason why not. It may evict others.
func (q *Queue) Join(w *Waiter, timeout int64, v View) (verdict reply.Verdict, evicted Chain) {
	evicted = q.receive(w, timeout, v)
	if q.observer != nil {
		q.observer.learn(w, v.Now)
	}
	verdict = q.discipline.screen(q, w, v)
	if verdict == reply.Waiting {
		verdict = q.squeezeIn(w, v, &evicted)
	}
	w.RecheckAt = w.expires
	return verdict, evicted
}

// Refuse is Join for a waiter that only asks. If Join would refuse it, it is refused, with
// all the effects. Otherwise Refuse returns Waiting, and w does not wait. It may evict
// expired waiters.
func (q *Queue) Refuse(w *Waiter, timeout int64, v View) (verdict reply.Verdict, evicted Chain) {
	evicted = q.receive(w, timeout, v)
	if q.hasRoomFor(w, v) {
		return reply.Waiting, evicted
	}
	verdict, more := q.Join(w, timeout, v)
	evicted.append(more)
	return verdict, evicted
}

// receive fills in the fields of a newcomer, and evicts expired waiters.
func (q *Queue) receive(w *Waiter, timeout int64, v View) (evicted Chain) {
	w.Lane = min(max(w.Lane, 0), len(q.lanes)-1)
	w.patience, w.expires = timeout, v.Now+timeout
	if w.Deadline == 0 {
		w.Deadline = noDeadline
	}
	w.latest = noDeadline
	w.Verdict = reply.Waiting
	if q.observer != nil {
		evicted = q.observer.dropLate(q, v.Now)
	}
	return evicted
}

// hasRoomFor reports whether w would wait if it joined. Nothing changes.
func (q *Queue) hasRoomFor(w *Waiter, v View) bool {
	if q.observer != nil {
		defer q.observer.recall(q.observer.learn(w, v.Now))
	}
	return q.discipline.screen(q, w, v) == reply.Waiting && q.keeps(w, v)
}

// squeezeIn puts w into its lane, and evicts the waiters that give way for it. It returns
// Waiting, or the reason why w itself is evicted.
func (q *Queue) squeezeIn(w *Waiter, v View, evicted *Chain) reply.Verdict {
	most := q.discipline.bound(q, w, v)
	q.insert(w)
	for int(q.length) > most {
		out := q.givesWay(w)
		why := q.lack(out, v)
		if out == w {
			q.Remove(w)
			return why
		}
		q.evict(out, why, evicted)
		if q.observer != nil {
			q.observer.gaveWay(out, v.Now)
		}
	}
	return reply.Waiting
}

// keeps reports whether squeezeIn would return Waiting. The waiters that would give way step
// out, and back.
func (q *Queue) keeps(w *Waiter, v View) bool {
	most := q.discipline.bound(q, w, v)
	var few [8]absence // more give way at once only after a cut of the limit, or for a short deadline
	absent := few[:0]
	q.link(w)
	kept := true
	for int(q.length) > most {
		out := q.givesWay(w)
		if out == w {
			kept = false
			break
		}
		absent = append(absent, q.stepOut(out))
	}
	for _, a := range slices.Backward(absent) {
		q.stepBack(a)
	}
	q.unlink(w)
	return kept
}

// givesWay returns the waiter to evict, now that w has joined. It may be w.
func (q *Queue) givesWay(w *Waiter) *Waiter { return q.discipline.yields(q.evictable(w)) }

// lack is the reason for evicting a waiter.
func (q *Queue) lack(out *Waiter, v View) reply.Verdict {
	if t := q.tenants(); t != nil && t.aboveShare(out, int(v.Limit)) {
		return reply.OverShare
	}
	return reply.QueueFull
}
