package queue

import (
	"math"
	"time"
)

// A View is the node's state as shown to a queue. Times are in nanoseconds, on the scale of
// the node.
type View struct {
	Now      int64
	Limit    int32 // the slots of the node
	Size     int32 // how many may wait; the order defines 0
	Measured Measured
}

// Measured is the pace of a node and the measurements of its work. It is queried only on
// demand, because a view is made for each waiter, and most need none.
type Measured interface {
	// Quantile returns the latency that a share p of recent work does not exceed, 0 if nothing has
	// completed.
	Quantile(p float64) time.Duration
	// DrainRate returns completions per second while the limit holds work back, 0 if unknown.
	DrainRate(now int64) float64
	// Pace returns the pace at this moment.
	Pace() Pace
}

// paceDelay is how long the pace holds back work that joins a lane.
func (q *Queue) paceDelay(lane int, v View) int64 {
	if !q.weighs() {
		return 0
	}
	return v.Measured.Pace().Delay(q.weightUpTo(lane))
}

// A Pace is a token bucket at one moment: work starts when the tokens are not negative. The zero
// Pace bounds nothing.
type Pace struct {
	Rate   float64 // weight per second, 0 without a bound
	Tokens float64 // weight that may start at once; negative for a debt
}

// Delay is the time until the given weight has started.
func (p Pace) Delay(weight int) int64 {
	if p.Rate <= 0 {
		return 0
	}
	seconds := max(0, float64(weight)-p.Tokens) / p.Rate
	return int64(min(math.Ceil(seconds*float64(time.Second)), 1<<60))
}

// Bound returns the lower one of a rate, which is 0 if unknown, and the pace.
func (p Pace) Bound(rate float64) float64 {
	if rate == 0 || p.Rate > 0 && p.Rate < rate {
		return p.Rate
	}
	return rate
}
