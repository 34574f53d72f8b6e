package law

import "math"

// A pulse is the unit of time of a server: the least latency that it was seen with, which
// fades, so that one that was measured inside an overload does not last.
type pulse struct {
	least float64 // seconds
}

const (
	// pulseFades is how many units it takes the least latency to rise by a factor of e.
	pulseFades      = 100
	leastPulseFades = 60.0 // seconds
	// pulseReach bounds the unit by the least: in an overload the latency itself would
	// have windows last as long as the queue that they are to find.
	pulseReach = 3
)

// feel takes in a window and returns the unit. A window of few samples may be quick by
// chance, so it counts as slower by its deviation.
func (p *pulse) feel(f flow, variation float64) float64 {
	seen := f.latency * exp(math.Sqrt((0.1+variation)/f.done))
	if p.least == 0 {
		p.least = seen
	}
	p.least *= exp(f.span / max(leastPulseFades, pulseFades*p.least))
	p.least = min(p.least, seen)
	return min(f.latency, pulseReach*p.least)
}
