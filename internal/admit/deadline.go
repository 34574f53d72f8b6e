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
	if q.service == nil || now-q.service.at >= estimateEvery {
		quantile := likeQuantile
		if q.adaptive != nil && q.adaptive.mixed() {
			quantile = mixedQuantile
		}
		if q.service == nil {
			q.service = new(service)
		}
		*q.service = service{at: now}
		if n.meter != nil {
			q.service.estimate = int64(n.meter.Quantile(quantile))
		}
	}
	return min(q.service.estimate, (w.Deadline-w.joined)/2)
}

// inTime reports whether w's work, started now, can finish by its deadline.
func (n *Node) inTime(w *Waiter, now int64) bool {
	return w.Deadline == noDeadline || now+n.serviceTime(w, now) <= w.Deadline
}

// reachable reports whether w's turn can come in time, behind all that is ahead
// of it.
func (n *Node) reachable(w *Waiter, now int64) bool {
	if w.Deadline == noDeadline {
		return true
	}
	start := now
	if rate := n.pressure.drainRate(); rate > 0 {
		ahead := 0
		for i := range w.Lane + 1 {
			ahead += int(n.queue.lanes[i].length)
		}
		start += int64(float64(ahead+1) / rate * float64(time.Second))
	}
	return start+n.serviceTime(w, now) <= w.Deadline
}
