package queue

import "time"

// A service is an estimate of how long work takes from dispatch.
type service struct{ at, estimate int64 }

// The estimate is a quantile of the recent latency: a higher one where deadlines
// differ, because there an optimist displaces work that would have been in time
// (decision 0004). It is computed this often at most, for it costs a walk
// through the histogram.
const (
	likeQuantile  = 0.75
	mixedQuantile = 0.9
	estimateEvery = int64(10 * time.Millisecond)
)

// serviceTime returns how long w's work is expected to take: at most half of the
// time that w was given, see the package documentation.
func (q *Queue) serviceTime(w *Waiter, v View) int64 {
	s := &q.extra().service
	if s.at == 0 || v.Now-s.at >= estimateEvery {
		*s = service{at: max(1, v.Now)}
		if v.Service != nil {
			s.estimate = int64(v.Service.Quantile(q.discipline.quantile()))
		}
	}
	return min(s.estimate, (w.Deadline-w.joined)/2)
}

// InTime reports whether w's work, started now, can finish by its deadline.
func (q *Queue) InTime(w *Waiter, v View) bool {
	return w.Deadline == noDeadline || v.Now+q.serviceTime(w, v) <= w.Deadline
}

// inFront is how many wait in the lanes above that of w, and in its own before it, which has not
// joined yet.
func (q *Queue) inFront(w *Waiter) int {
	ahead := 0
	for i := range w.Lane {
		ahead += int(q.lanes[i].length)
	}
	if t := q.tenants(); t != nil {
		return ahead + t.ahead(w)
	}
	return ahead + int(q.lanes[w.Lane].length)
}

// reachable reports whether w can be served in time, behind all that is ahead of it.
func (q *Queue) reachable(w *Waiter, v View) bool {
	if w.Deadline == noDeadline {
		return true
	}
	wait := v.Pace.Delay(q.weightUpTo(w.Lane))
	if v.Drain > 0 {
		wait = max(wait, int64(float64(q.discipline.ahead(q, w)+1)/v.Drain*float64(time.Second)))
	}
	return v.Now+wait+q.serviceTime(w, v) <= w.Deadline
}
