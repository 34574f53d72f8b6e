package admit

import (
	"math"
	"slices"
	"time"
)

// arrivals is how many pieces of work the median of their deadlines is of. So the share of the work
// that has one is off by 0.09, one standard error.
const arrivals = 32

// deadlines are how much time the last arrivals had left, in seconds. Those without a deadline had
// all the time there is.
type deadlines struct {
	left  [arrivals]float32
	count uint32  // of all arrivals
	least float32 // arrivals with less are left out
}

var endless = float32(math.Inf(1))

func (d *deadlines) add(left float32) {
	if left > 0 && left >= d.least {
		d.left[d.count%arrivals] = left
		d.count++
	}
}

// median is 0 if most arrivals had no deadline.
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
