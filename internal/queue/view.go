package queue

import (
	"math"
	"time"
)

// A View is what a queue is shown of its node. Times are in nanoseconds, on the scale of the
// node.
type View struct {
	Now     int64
	Limit   int           // the slots of the node
	Size    int           // how many may wait; the order says what 0 means
	Latency time.Duration // the recent one from dispatch, 0 if nothing completed
	Drain   float64       // completions per second while the limit holds work back, 0 if unknown; only Join needs it
	Pace    Pace
	Service Service // nil if nothing ran yet
}

// A Service knows how long work takes.
type Service interface {
	// Quantile returns the latency from dispatch that a share p of recent work does not exceed.
	Quantile(p float64) time.Duration
}

// drainRate is how much drains per second while it is held back: as much as completed at
// the limit and as the pace allows, 0 if unknown.
func (v *View) drainRate() float64 { return v.Pace.Bound(v.Drain) }

// A Pace is a token bucket at one moment: work starts when the tokens are not negative. The zero
// Pace bounds nothing.
type Pace struct {
	Rate   float64 // weight per second, 0 for no bound
	Tokens float64 // weight that may start at once; negative for a debt
}

// Delay is how long it takes until so much weight more than now has started.
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
