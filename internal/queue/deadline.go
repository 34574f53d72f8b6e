package queue

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// An outlook is the wait that a newcomer has to expect if it joins.
type outlook struct {
	now  int64
	pace int64 // how long the pace holds the newcomer back

	// For work with a deadline.
	wait    int64 // time until the newcomer is served, behind the waiters ahead
	service int64 // how long the newcomer's work takes
	mixed   bool  // the deadlines of callers differ
}

// outlook returns the outlook of w, which has not joined yet.
func (q *Queue) outlook(w *Waiter, v View) outlook {
	o := outlook{now: v.Now, pace: v.Measured.Pace().Delay(q.weightUpTo(w.Lane))}
	if !w.HasDeadline() {
		return o
	}
	o.wait, o.service = o.pace, q.serviceTime(w, v)
	o.mixed = q.cold.given.mixed()
	if rate := v.Measured.DrainRate(v.Now); rate > 0 {
		o.wait = max(o.wait, int64(float64(q.ahead(w)+1)/rate*float64(time.Second)))
	}
	return o
}

// ahead counts the waiters that are served before w: in the lanes above the lane of w, and in that
// lane.
func (q *Queue) ahead(w *Waiter) int {
	ahead := 0
	for i := range w.Lane {
		ahead += int(q.lanes[i].length)
	}
	if t := q.tenants(); t != nil {
		return ahead + t.ahead(w)
	}
	return ahead + int(q.lanes[w.Lane].length)
}

// A service is an estimate of how long work takes from dispatch.
type service struct{ at, estimate int64 }

// The estimate is a quantile of the recent latency. The quantile is higher if deadlines differ,
// because then work with too low an estimate displaces work that would have been in time (decision
// 0004). The estimate is computed at most once in estimateEvery, because it walks through the
// histogram.
const (
	likeQuantile  = 0.75
	mixedQuantile = 0.9
	estimateEvery = int64(10 * time.Millisecond)
)

// serviceTime returns how long w's work is expected to take: at most half of w's time to its
// deadline, see the package documentation.
func (q *Queue) serviceTime(w *Waiter, v View) int64 {
	c := q.coldPart()
	if s := &c.service; s.at == 0 || v.Now-s.at >= estimateEvery {
		quantile := likeQuantile
		if c.given.mixed() {
			quantile = mixedQuantile
		}
		*s = service{at: max(1, v.Now), estimate: int64(v.Measured.Quantile(quantile))}
	}
	return min(c.service.estimate, (w.Deadline-w.joined)/2)
}

// InTime reports whether the work of w, which has a deadline, can finish by the deadline if it
// starts now.
func (q *Queue) InTime(w *Waiter, v View) bool {
	return v.Now+q.serviceTime(w, v) <= w.Deadline
}

// given has the average of the time that callers give their work, and its spread. Only an order by
// deadlines measures them.
type given struct {
	budget float64 // the average, in nanoseconds
	spread float64 // average distance from budget
}

const (
	// mixedSpread is the relative spread above which deadlines are mixed.
	mixedSpread = 0.1
	// arrivalWeight is the weight of one arrival in the averages.
	arrivalWeight = 1.0 / 16
)

func (q *Queue) learn(w *Waiter, now int64) {
	if !w.HasDeadline() || !orders[q.order].deadlines {
		return
	}
	g, budget := &q.coldPart().given, float64(w.Deadline-now)
	if g.budget == 0 {
		g.budget = budget
	}
	g.spread = portable.Toward(g.spread, math.Abs(budget-g.budget), arrivalWeight)
	g.budget = portable.Toward(g.budget, budget, arrivalWeight)
}

// mixed reports whether deadlines differ.
func (g given) mixed() bool { return g.spread > mixedSpread*g.budget }
