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
func (p Pace) Delay(weight int64) int64 {
	if p.Rate <= 0 {
		return 0
	}
	seconds := max(0, float64(weight)-p.Tokens) / p.Rate
	return int64(min(math.Ceil(seconds*float64(time.Second)), 1<<60))
}

// Bound returns the lower of a rate, which is 0 if unknown, and the rate of the pace.
func (p Pace) Bound(rate float64) float64 {
	if rate == 0 || p.Rate > 0 && p.Rate < rate {
		return p.Rate
	}
	return rate
}

// weightUpTo is the weight of the waiters in a lane and the lanes above it.
func (q *Queue) weightUpTo(lane int) (weight int64) {
	for _, queued := range q.weights[:lane+1] {
		weight += queued
	}
	return weight
}

// Weight returns the weight of all waiters.
func (q *Queue) Weight() int64 {
	if q == nil {
		return 0
	}
	return q.weightUpTo(Lanes - 1)
}
