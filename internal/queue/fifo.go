package queue

import "github.com/weir-go/weir/internal/reply"

// FIFO serves first in, first out. Who came last gives way.
const FIFO Order = 0

type fifo struct{}

func startFIFO(*Queue, View) discipline { return fifo{} }

// boundsOfFIFO are the settings. A size of 0 is no queue.
func boundsOfFIFO(v View, timeout int64) (most int, patience int64) { return int(v.Size), timeout }

func (fifo) join(q *Queue, w *Waiter, v View) (verdict reply.Verdict, evicted Chain) {
	if w.HasDeadline() && !q.reachable(w, v) {
		return reply.Deadline, evicted
	}
	if v.Now+q.paceDelay(w.Lane, v) >= w.expires {
		return reply.QueueFull, evicted // its time would be up before it is served
	}
	full := q.Full(v.Size)
	q.insert(w)
	if full {
		among, _ := q.evictable(w)
		return q.giveWay(among.newest, w, v, &evicted), evicted
	}
	return reply.Waiting, evicted
}

// next returns the oldest waiter of the lane, and the tenant, that is picked.
func (fifo) next(q *Queue, _ View) (*Waiter, Chain) { return q.Oldest(), Chain{} }

func (fifo) ahead(q *Queue, w *Waiter) int { return q.inFront(w) }

func (fifo) quantile() float64 { return likeQuantile }

// giveWay refuses out to make room for w, which may be the same, and answers for w.
func (q *Queue) giveWay(out, w *Waiter, v View, evicted *Chain) reply.Verdict {
	why := reply.QueueFull
	if t := q.tenants(); t != nil && t.aboveShare(out, int(v.Limit)) {
		why = reply.OverShare
	}
	if out == w {
		q.Remove(w)
		return why
	}
	q.evict(out, why, evicted)
	return reply.Waiting
}

// Oldest returns the oldest waiter of the lane, and the tenant, that is picked, nil if nothing waits.
func (q *Queue) Oldest() *Waiter {
	i := q.pickLane()
	if i < 0 {
		return nil
	}
	if t := q.tenants(); t != nil {
		return t.least(i).oldest(byTenant)
	}
	return q.lanes[i].oldest(byLane)
}
