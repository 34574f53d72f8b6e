package law

import (
	"math"
	"time"
)

// Learned returns the limit and the no-load latency. A limit that was never reached gives no
// knowledge. During a probe, Learned returns the limit from before the probe.
func (c *setpointController) Learned(int) Knowledge {
	k := c.regulator
	if k == nil {
		return Knowledge{}
	}
	return Knowledge{Limit: int(math.Round(k.limit())), NoLoad: time.Duration(k.noLoad * float64(time.Second))}
}

// Resume holds the limit and does not climb. The next probe measures the no-load latency again.
func (c *setpointController) Resume(k Knowledge) {
	if k.NoLoad <= 0 {
		return
	}
	c.least, c.calm = k.NoLoad.Seconds(), true
	c.regulator = newRegulator(reading{limit: float64(k.Limit)}, c.least, true)
}
