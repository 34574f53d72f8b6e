package queue

import "time"

// A service is an estimate of how long work takes from dispatch.
type service struct{ at, estimate int64 }

// The estimate is a quantile of the recent latency. It is higher if deadlines differ, because
// then an optimist displaces work that would have been in time (decision 0004). It is
// computed at most this often, because it walks through the histogram.
const (
	likeQuantile  = 0.75
	mixedQuantile = 0.9
	estimateEvery = int64(10 * time.Millisecond)
)

// serviceTime returns how long w's work is expected to take: at most half of w's time to its
// deadline, see the package documentation.
func (q *Queue) serviceTime(w *Waiter, v View) int64 {
	s := &q.coldPart().service
	if s.at == 0 || v.Now-s.at >= estimateEvery {
		*s = service{at: max(1, v.Now)}
		s.estimate = int64(v.Measured.Quantile(q.discipline.quantile()))
	}
	return min(s.estimate, (w.Deadline-w.joined)/2)
}

// InTime reports whether the work of w, which has a deadline, can finish by it if it starts now.
func (q *Queue) InTime(w *Waiter, v View) bool {
	return v.Now+q.serviceTime(w, v) <= w.Deadline
}

// inFront counts the waiters in the lanes above that of w, and in its own lane. w has not
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

// reachable reports whether w, which has a deadline, can be served in time, behind the
// waiters ahead of it.
func (q *Queue) reachable(w *Waiter, v View) bool {
	wait := q.paceDelay(w.Lane, v)
	if rate := v.Measured.DrainRate(v.Now); rate > 0 {
		wait = max(wait, int64(float64(q.discipline.ahead(q, w)+1)/rate*float64(time.Second)))
	}
	return v.Now+wait+q.serviceTime(w, v) <= w.Deadline
}
