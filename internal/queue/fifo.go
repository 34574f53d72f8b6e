package queue

import "github.com/weir-go/weir/internal/reply"

// FIFO serves first in, first out. The newest gives way.
const FIFO Order = 0

type fifo struct{}

func startFIFO(*Queue, View) discipline { return fifo{} }

// boundsOfFIFO are the settings. A size of 0 is no queue.
func boundsOfFIFO(v View, timeout int64) (most int, patience int64) { return int(v.Size), timeout }

func (fifo) screen(q *Queue, w *Waiter, v View) reply.Verdict {
	switch {
	case w.HasDeadline() && !q.reachable(w, v):
		return reply.Deadline
	case v.Now+q.paceDelay(w.Lane, v) >= w.expires:
		return reply.Paced // its time would be up before it is served
	}
	return reply.Waiting
}

// bound is the size, or the current length if the size was larger before.
func (fifo) bound(q *Queue, _ *Waiter, v View) int { return int(max(v.Size, q.length)) }

func (fifo) yields(among *lane, _ kind) *Waiter { return among.newest }

// next returns the oldest waiter of the picked lane and tenant.
func (fifo) next(q *Queue, _ View) (*Waiter, Chain) { return q.Oldest(), Chain{} }

func (fifo) ahead(q *Queue, w *Waiter) int { return q.inFront(w) }

func (fifo) quantile() float64 { return likeQuantile }

// Oldest returns the oldest waiter of the picked lane and tenant, nil if nothing waits.
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
