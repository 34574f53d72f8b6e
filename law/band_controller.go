package law

import (
	"math"
	"time"
	"unique"
)

// A bandController applies a Band. It has no state, because the limit comes with each window,
// and shares its settings with all controllers of equal settings: it costs 8 bytes instead of
// 96, or some 300 if its settings are unique.
type bandController struct {
	settings unique.Handle[completeBand]
}

// A completeBand is a Band with every default filled in.
type completeBand Band

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
	c.settings = unique.Make(complete)
	return true
}

func (c *bandController) Next(w Window) Decision {
	b := c.settings.Value()
	to, reason := b.judge(w)
	limit := float64(w.Limit)
	switch to {
	case cut:
		limit = b.cut(limit, reason)
	case raise:
		limit += b.step(reason)
	}
	d := Decision{Reason: reason, Next: Plan{MinSamples: b.MinSamples}}
	d.Limit = min(max(limit, float64(w.Min)), float64(w.Max))
	if d.Limit < float64(w.Limit) {
		d.Next.Settle = b.Cooldown
	}
	return d
}

type move int8

const (
	hold move = iota
	cut
	raise
)

// judge returns the direction of the limit and the signal that decided it. A guard that is
// exceeded comes before the signal; one that is near only forbids a raise.
func (b *completeBand) judge(w Window) (move, Reason) {
	if w.Completed() == 0 && !w.Used() {
		return hold, Reason{}
	}
	enough := max(1, b.MinSamples, w.MinSamples)
	var near Reason
	for _, guard := range [...]Reason{b.errors(w, enough), b.ceiling(w, enough)} {
		switch guard.Code {
		case Above:
			return cut, guard
		case Within:
			near = guard
		}
	}
	if w.Samples < enough {
		if r := b.stuck(w); r.Code == Above {
			return cut, r
		}
		return hold, Reason{Code: TooFew, Have: float64(w.Samples), Want: float64(enough)}
	}

	r := b.signal(w)
	room := r.Code == Below
	if b.Signal == QueueWait {
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

// stuck judges a window that grew old before it had enough samples although the limit was
// used. To hold until more work ends would freeze the limit just when the work is slowest, so
// it is cut if the evidence is for that: the least latency, or without any, the age of the
// oldest work.
func (b *completeBand) stuck(w Window) Reason {
	bound := seconds(b.Target, 1+b.Tolerance)
	if b.Signal == QueueWait {
		bound = seconds(b.Ceiling, 1)
	}
	signal, have := Least, w.Least
	if w.Samples == 0 {
		signal, have = Age, w.Age
	}
	if !w.Used() || bound == 0 || seconds(have, 1) <= bound {
		return Reason{}
	}
	return Reason{Above, signal, seconds(have, 1), bound}
}

// errors compares the error rate with its bound. Unlike a latency it needs no success to be
// measured.
func (b *completeBand) errors(w Window, enough int) Reason {
	if b.MaxErrorRate == 0 || w.Completed() < enough {
		return Reason{}
	}
	return b.guard(Errors, w.ErrorRate(), b.MaxErrorRate)
}

func (b *completeBand) ceiling(w Window, enough int) Reason {
	if b.Ceiling == 0 || w.Samples < enough {
		return Reason{}
	}
	return b.guard(quantile(b.Quantile), seconds(w.Quantile(b.Quantile), 1), seconds(b.Ceiling, 1))
}

func (b *completeBand) guard(s Signal, have, bound float64) Reason {
	return stand(s, have, bound*(1-b.Tolerance), bound, bound)
}

// signal compares the signal with the band around the target.
func (b *completeBand) signal(w Window) Reason {
	signal, have := b.Signal, time.Duration(0)
	switch signal {
	case EWMA:
		have = w.EWMA
	case QueueWait:
		have = w.QueueWait
	default:
		signal, have = quantile(b.Quantile), w.Quantile(b.Quantile)
	}
	return stand(signal, seconds(have, 1),
		seconds(b.Target, 1-b.Tolerance), seconds(b.Target, 1), seconds(b.Target, 1+b.Tolerance))
}

// stand compares a signal with the band from low to high around want.
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

// cut returns the limit after a cut: at least one slot less.
func (b *completeBand) cut(limit float64, r Reason) float64 {
	factor := b.Factor
	if b.Proportional {
		factor = max(factor, r.Want/r.Have)
	}
	left := min(whole(limit*factor), limit-1)
	if b.MaxCut > 0 {
		left = max(left, limit-float64(b.MaxCut))
	}
	return left
}

// step returns how many slots to add: at least one.
func (b *completeBand) step(r Reason) float64 {
	if !b.Proportional {
		return float64(b.Step)
	}
	distance := 1 - min(r.Have, r.Want)/max(r.Have, r.Want)
	return max(1, wholeUp(distance*float64(b.Step)))
}
