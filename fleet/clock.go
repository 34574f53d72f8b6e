package fleet

import "time"

// A clock goes on while the process runs, and at least as fast as the monotonic clock or the wall
// clock. The monotonic clock stops while the machine sleeps, and a lease must not last longer
// because of it. A wall clock that is set forward ends leases early, which is safe.
type clock struct {
	last time.Time
	sum  time.Duration
}

// started is the first reading: 0 means never in package lease.
const started = time.Second

func newClock() clock { return clock{last: time.Now(), sum: started} }

// now returns the time since some moment before the clock was made. It is for one goroutine.
func (c *clock) now() time.Duration {
	now := time.Now()
	c.sum += max(now.Sub(c.last), now.Round(0).Sub(c.last.Round(0)), 0)
	c.last = now
	return c.sum
}
