package throttle

// A Pace bounds how fast operations start. The zero Pace bounds nothing.
type Pace struct {
	// Rate is how much cost may start per second. 0 is no bound.
	Rate float64
	// Burst is how much cost may start at once after a pause. An operation that costs more
	// starts as well, and the next one waits longer.
	Burst float64
}
