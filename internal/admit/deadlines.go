package admit

import (
	"math"
	"slices"
	"time"
)

// arrivals is the number of pieces of work in the median. The share of work with a deadline
// is then off by 0.09, one standard error.
const arrivals = 32

// deadlines has the time that the last arrivals had left, in seconds. The time of an arrival
// without a deadline is infinite.
type deadlines struct {
	left  [arrivals]float32
	count uint32  // of all arrivals
	least float32 // arrivals with less time are left out
}

var endless = float32(math.Inf(1))

func (d *deadlines) add(left float32) {
	if left > 0 && left >= d.least {
		d.left[d.count%arrivals] = left
		d.count++
	}
}

// median returns the median of the time left, 0 if most arrivals had no deadline.
func (d *deadlines) median() time.Duration {
	n := min(d.count, arrivals)
	if n == 0 {
		return 0
	}
	sorted := d.left
	slices.Sort(sorted[:n])
	if seconds := sorted[n/2]; seconds < endless {
		return time.Duration(float64(seconds) * float64(time.Second))
	}
	return 0
}
