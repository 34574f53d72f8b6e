package queue

import (
	"math"
	"time"
)

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

// paceDelay is how long the pace holds back work that joins a lane.
func (q *Queue) paceDelay(lane int, v View) int64 {
	if !q.weighs() {
		return 0
	}
	return v.Measured.Pace().Delay(q.weightUpTo(lane))
}

// Weigh begins or ends keeping the weight of the waiters in each lane. A node with a pace
// needs it.
func (q *Queue) Weigh(on bool) {
	if !on {
		if q.cold != nil {
			q.cold.weights = nil
		}
		return
	}
	weights := new([Lanes]int)
	for i := range q.lanes {
		for w := range q.lanes[i].all(byLane) {
			weights[i] += w.Weight
		}
	}
	q.coldPart().weights = weights
}

// weighs reports whether weights are kept.
func (q *Queue) weighs() bool { return q.cold != nil && q.cold.weights != nil }

// weightUpTo is the weight of the waiters in a lane and the lanes above it, 0 if it is not
// kept.
func (q *Queue) weightUpTo(lane int) (weight int) {
	if !q.weighs() {
		return 0
	}
	for _, queued := range q.cold.weights[:lane+1] {
		weight += queued
	}
	return weight
}

// Weight returns the weight of all waiters, 0 if it is not kept.
func (q *Queue) Weight() int {
	if q == nil {
		return 0
	}
	return q.weightUpTo(Lanes - 1)
}
