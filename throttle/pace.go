package throttle

import (
	"fmt"
	"math"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
)

var limiters = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()

// A Pace bounds how fast operations start. The zero Pace bounds nothing.
type Pace struct {
	// Rate is how much cost may start per second. 0 is no bound.
	Rate float64
	// Burst is how much cost may start at once after a pause. An operation that costs more
	// starts as well, and the next one waits longer.
	Burst float64
	// Refuse is the share of the operations that is refused with [weir.ErrOverload], from 0
	// to 1. Refusals are spread evenly, not drawn at random.
	Refuse float64
}

// setPace replaces the pace of a limiter. A law that asks for one out of range broke its word.
func setPace(l *weir.Limiter, p Pace) {
	for _, f := range []struct {
		name  string
		value float64
		most  float64
	}{{"Rate", p.Rate, math.MaxFloat64}, {"Burst", p.Burst, math.MaxFloat64}, {"Refuse", p.Refuse, 1}} {
		if !(f.value >= 0 && f.value <= f.most) {
			panic(fmt.Sprintf("throttle: Pace.%s is %v: want 0 to %v", f.name, f.value, f.most))
		}
	}
	limiters.SetPace(l, admit.Pace(p))
}

func paceOf(l *weir.Limiter) Pace { return Pace(limiters.Node(l).Pace()) }
