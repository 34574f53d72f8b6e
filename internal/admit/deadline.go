package admit

import "time"

// A service estimates how long work takes from dispatch.
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
func (n *Node) serviceTime(w *Waiter, now int64) int64 {
	q := n.queue
	s := &q.extra().service
	if s.at == 0 || now-s.at >= estimateEvery {
		quantile := likeQuantile
		if q.adaptive != nil && q.adaptive.mixed() {
			quantile = mixedQuantile
		}
		*s = service{at: max(1, now)}
		if n.meter != nil {
			s.estimate = int64(n.meter.Quantile(quantile))
		}
	}
	return min(s.estimate, (w.Deadline-w.joined)/2)
}

// inTime reports whether w's work, started now, can finish by its deadline.
func (n *Node) inTime(w *Waiter, now int64) bool {
	return w.Deadline == noDeadline || now+n.serviceTime(w, now) <= w.Deadline
}

// ahead is how many are served before w, which has not joined yet.
func (n *Node) ahead(w *Waiter) int {
	ahead := 0
	for i := range w.Lane {
		ahead += int(n.queue.lanes[i].length)
	}
	if t := n.tenants(); t != nil {
		return ahead + t.ahead(w)
	}
	return ahead + int(n.queue.lanes[w.Lane].length)
}

// reachable reports whether w's turn can come in time, behind all that is ahead
// of it.
func (n *Node) reachable(w *Waiter, now int64) bool {
	if w.Deadline == noDeadline {
		return true
	}
	wait := n.paceDelay(n.weightUpTo(w.Lane))
	if rate := n.pressure.drainRate(now, n.conf.lookback); rate > 0 {
		wait = max(wait, int64(float64(n.ahead(w)+1)/rate*float64(time.Second)))
	}
	return now+wait+n.serviceTime(w, now) <= w.Deadline
}
