package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

const (
	// fairGain is an exponent: a limiter multiplies its target by the ratio of the fair target to
	// its target, to this power. With 0.5 Jain's index is 0.006 lower, with 1 shared systems score
	// 0.3 points less.
	fairGain = 0.7
	// mostAdvised bounds a factor in advice, because the reports of other limiters may be nonsense.
	mostAdvised = 4
)

// Report returns the state for the other limiters of the downstream. Before the limit was reached,
// the report is zero.
func (c *setpointController) Report() Report {
	k := c.regulator
	if k == nil {
		return Report{}
	}
	r := Report{Target: k.target, Reached: k.isReached()}
	if k.known {
		r.NoLoad = duration(k.noLoad)
	}
	if k.recent.span > 0 {
		r.Rate = k.recent.work / k.recent.span
	}
	return r
}

// Advise reduces the differences to the other limiters. During a probe it takes only the number of
// members, because a probe must not mix two no-load latencies.
func (c *setpointController) Advise(a Advice) {
	c.members = uint16(min(max(a.Members, 0), math.MaxUint16))
	k := c.regulator
	switch {
	case a.NoLoad <= 0:
	case k == nil:
		c.least, c.calm = a.NoLoad.Seconds(), true
	case k.test.running:
		return
	case !k.known:
		k.noLoad, k.known = a.NoLoad.Seconds(), true
	case a.Slower > 0:
		k.noLoad *= min(max(a.Slower, 1.0/mostAdvised), mostAdvised)
	}
	c.part = 0
	if k == nil || k.test.running || k.push.ceiling > 0 || !(a.Share > 0) { // it may be NaN
		return
	}
	fair := k.target * portable.Exp(fairGain*portable.Log(min(max(a.Share, 1.0/mostAdvised), mostAdvised)))
	if k.isReached() {
		k.target = fair
	} else {
		c.part = fair
	}
}

// others is the number of limiters that share the downstream, as far as it is known.
func (c *setpointController) others() float64 { return max(1, float64(c.members)) }
