package law

import (
	"math"
	"time"
)

// A bandController is a Band with every default filled in. The limit, which is
// all that a Band remembers, comes with each window.
type bandController struct {
	Band
}

// Retune takes new settings.
func (c *bandController) Retune(l Law) bool {
	b, ok := l.(Band)
	if !ok {
		return false
	}
	complete, err := b.complete()
	if err != nil {
		return false
	}
	c.Band = complete
	return true
}

func (c *bandController) Next(w Window) Decision {
	to, reason := c.judge(w)
	limit := float64(w.Limit)
	switch to {
	case cut:
		limit = c.cut(limit, reason)
	case raise:
		limit += c.step(reason)
	}
	d := Decision{Reason: reason, Next: Plan{MinSamples: c.MinSamples}}
	d.Limit = min(max(limit, float64(w.Min)), float64(w.Max))
	if d.Limit < float64(w.Limit) {
		d.Next.Settle = c.Cooldown
	}
	return d
}

type move int8

const (
	hold move = iota
	cut
	raise
)

// judge says where the limit should go and which signal decided it. A guard that
// is exceeded comes before the signal; one that is near only forbids a raise.
func (c *bandController) judge(w Window) (move, Reason) {
	if w.Completed() == 0 {
		return hold, Reason{}
	}
	enough := max(1, c.MinSamples, w.MinSamples)
	var near Reason
	for _, guard := range [...]Reason{c.errors(w, enough), c.ceiling(w, enough)} {
		switch guard.Code {
		case Above:
			return cut, guard
		case Within:
			near = guard
		}
	}
	if w.Samples < enough {
		return hold, Reason{Code: TooFew, Have: float64(w.Samples), Want: float64(enough)}
	}

	r := c.signal(w)
	room := r.Code == Below
	if c.Signal == QueueWait {
		room = r.Code == Above
	}
	switch {
	case !room && r.Code == Above:
		return cut, r
	case !room:
		return hold, r
	case near.Code == Within:
		return hold, near
	case !w.Used():
		r.Code = Unused
		return hold, r
	}
	return raise, r
}

// errors stands the error rate against its bound. Unlike a latency it needs no
// success to be measured.
func (c *bandController) errors(w Window, enough int) Reason {
	if c.MaxErrorRate == 0 || w.Completed() < enough {
		return Reason{}
	}
	return c.guard(Errors, w.ErrorRate(), c.MaxErrorRate)
}

func (c *bandController) ceiling(w Window, enough int) Reason {
	if c.Ceiling == 0 || w.Samples < enough {
		return Reason{}
	}
	return c.guard(quantile(c.Quantile), seconds(w.Quantile(c.Quantile), 1), seconds(c.Ceiling, 1))
}

func (c *bandController) guard(s Signal, have, bound float64) Reason {
	return stand(s, have, bound*(1-c.Tolerance), bound, bound)
}

// signal stands the signal against the band around the target.
func (c *bandController) signal(w Window) Reason {
	signal, have := c.Signal, time.Duration(0)
	switch signal {
	case EWMA:
		have = w.EWMA
	case QueueWait:
		have = w.QueueWait
	default:
		signal, have = quantile(c.Quantile), w.Quantile(c.Quantile)
	}
	return stand(signal, seconds(have, 1),
		seconds(c.Target, 1-c.Tolerance), seconds(c.Target, 1), seconds(c.Target, 1+c.Tolerance))
}

// stand says how a signal stands to the band from low to high around want.
func stand(s Signal, have, low, want, high float64) Reason {
	switch {
	case have > high:
		return Reason{Above, s, have, high}
	case have < low:
		return Reason{Below, s, have, low}
	}
	return Reason{Within, s, have, want}
}

// seconds scales d. It rounds to the nanosecond, so that the p95 of 115 ms is
// not above 100 ms and 15%.
func seconds(d time.Duration, by float64) float64 {
	return math.Round(float64(d)*by) / float64(time.Second)
}

// rounding keeps a product that falls just short of a whole number, such as
// 90 * 0.7, from losing a slot.
const rounding = 1e-9

// cut returns what a cut leaves of the limit: at least one slot less.
func (c *bandController) cut(limit float64, r Reason) float64 {
	factor := c.Factor
	if c.Proportional {
		factor = max(factor, r.Want/r.Have)
	}
	left := min(math.Floor(limit*factor+rounding), limit-1)
	if c.MaxCut > 0 {
		left = max(left, limit-float64(c.MaxCut))
	}
	return left
}

// step returns how many slots to add: at least one.
func (c *bandController) step(r Reason) float64 {
	if !c.Proportional {
		return float64(c.Step)
	}
	distance := 1 - min(r.Have, r.Want)/max(r.Have, r.Want)
	return max(1, math.Ceil(distance*float64(c.Step)-rounding))
}
