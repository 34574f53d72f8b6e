package throttle

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
