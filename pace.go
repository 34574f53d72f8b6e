package weir

import (
	"fmt"
	"math"

	"github.com/weir-go/weir/internal/admit"
)

// A Pace bounds how fast a limiter admits work, besides how much of it may run at
// once. It is for what limits the work but does not show in its latency, such as a
// store that digests writes later; package throttle finds one. The zero Pace bounds
// nothing and costs nothing.
type Pace struct {
	// Rate is how much weight may start per second. 0 is no bound.
	Rate float64
	// Burst is how much weight may start at once after a pause. Work heavier
	// than that starts as well, and what comes next waits for longer.
	Burst float64
	// Refuse is the share of the work that is refused with [ErrOverload], from 0
	// to 1. Which work that is, is counted off, not drawn.
	Refuse float64
}

// SetPace replaces the pace. What waits for its turn is served in order, what could
// not start before its deadline or its time in the queue is up is refused at
// once, and a new pace holds for all that waits. Without a [Queue], work beyond
// the pace is refused.
//
// A value out of range is an error that matches [ErrConfig].
func (l *Limiter) SetPace(p Pace) error {
	for _, f := range []struct {
		name  string
		value float64
		most  float64
	}{{"Rate", p.Rate, math.MaxFloat64}, {"Burst", p.Burst, math.MaxFloat64}, {"Refuse", p.Refuse, 1}} {
		if !(f.value >= 0 && f.value <= f.most) {
			return fmt.Errorf("%w: Pace.%s is %v: want 0 to %v", ErrConfig, f.name, f.value, f.most)
		}
	}
	var fx admit.Effects
	l.node.SetPace(admit.Pace(p), now(), &fx)
	l.after(&fx, nil)
	return nil
}

// Pace returns the pace.
func (l *Limiter) Pace() Pace { return Pace(l.node.Pace()) }
