package law

import (
	"math"
	"time"
	"unique"
)

// Band holds a latency in a band around a target: above the band it cuts the limit by a factor,
// below the band it adds a step if the limit was used, and inside the band it keeps the limit.
//
// Band suits a service whose latency without load stays well below its latency objective. The
// package documentation has its mathematics and its weakness.
//
// The zero Band holds the p95 between 85 ms and 115 ms. Its options compose:
//
//	Band{Target: 50 * time.Millisecond, Signal: EWMA, Ceiling: 200 * time.Millisecond}
//
// This Band follows the average, which reacts fast, while the ceiling of the p95 keeps the tail
// safe.
type Band struct {
	// Target is the target of the signal. Defaults to 100 ms.
	Target time.Duration

	// Tolerance is half the width of the band, as a share of Target: from 0
	// to less than 1. Defaults to 0.15.
	Tolerance float64

	// Signal is the signal held to Target. Defaults to the Quantile of the latency. EWMA is
	// the moving average of the latency.
	//
	// QueueWait is the mean wait in the limiter's own queue. A higher limit shortens it, so the
	// band is reversed: above the band the limit gets a step, and inside and below the band it
	// stays. Slots are then added only while work waits for them. Only Ceiling and MaxErrorRate cut
	// the limit, and one of the two must be set.
	Signal Signal

	// Quantile is the quantile of the latency for Signal and Ceiling, from 0 to less than 1.
	// Defaults to 0.95. Reasons name it to a tenth of a percent.
	Quantile float64

	// Ceiling bounds the Quantile of the latency with any Signal: above the ceiling the limit is
	// cut, and within Tolerance below the ceiling it is not raised. 0 means no bound.
	Ceiling time.Duration

	// MaxErrorRate bounds the share of work that fails or times out, from 0 to less than 1: above
	// this rate the limit is cut, and within Tolerance below it the limit is not raised. 0 means no
	// bound. Set it if work can time out: latency is measured on successes only, and looks good
	// when slow work is cut off.
	MaxErrorRate float64

	// Step is the number of slots that a raise adds. Defaults to 1.
	Step int

	// Factor is the share of the limit that a cut leaves, rounded down: from 0 to less than
	// 1. Defaults to 0.7, which cuts 10 to 7, 4, 2, 1.
	Factor float64

	// MaxCut bounds the slots that one cut may take. 0 means no bound.
	MaxCut int

	// Proportional makes moves smaller near the band. The bound is the edge that the signal
	// crossed. A cut multiplies the limit by bound over signal, but by no less than Factor. A raise
	// adds Step times the distance from the signal to the bound, as a share of the larger value. A
	// move is never less than one slot, so a larger Step costs no precision.
	Proportional bool

	// Cooldown is the time after a cut in which the limiter neither measures nor decides, so that
	// the effect of the cut can show. It becomes [Plan].Settle. 0 means the limiter's own time
	// after any change. Work that started before the cut does not count for the new limit in any
	// case.
	Cooldown time.Duration

	// MinSamples is the least number of samples for a decision. It becomes [Plan].MinSamples; a
	// window with fewer samples keeps the limit, unless its work is too slow. 0 means the
	// MinSamples of the limiter.
	MinSamples int
}

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (b Band) Controller(Bounds) (Controller, error) {
	return started(b, func(b Band) Controller { return &bandController{unique.Make(b)} })
}

// String returns the text form, with the settings that are not zero: for example
// "band(target=200ms,step=2)". [Parse] reads it.
func (b Band) String() string { return b.form().String() }

// form has the defaults. Target, tolerance and quantile make a common objective of interactive
// services. One step at a time cannot jump over a band. With a factor of 0.7 a limit twice
// too high is right after two cuts.
func (b *Band) form() form {
	return form{name: "band", settings: []setting{
		{"target", number[time.Duration]{field: &b.Target, preset: 100 * time.Millisecond}},
		{"tolerance", number[float64]{field: &b.Tolerance, preset: 0.15, below: 1}},
		{"signal", choice[Signal]{&b.Signal, bandSignals}},
		{"quantile", number[float64]{field: &b.Quantile, preset: 0.95, below: 1}},
		{"ceiling", number[time.Duration]{field: &b.Ceiling, unset: noBound}},
		{"max_error_rate", number[float64]{field: &b.MaxErrorRate, unset: noBound, below: 1}},
		{"step", number[int]{field: &b.Step, preset: 1}},
		{"factor", number[float64]{field: &b.Factor, preset: 0.7, below: 1}},
		{"max_cut", number[int]{field: &b.MaxCut, unset: noBound}},
		{"proportional", choice[bool]{&b.Proportional, onOff}},
		{"cooldown", number[time.Duration]{field: &b.Cooldown}},
		{"min_samples", number[int]{field: &b.MinSamples, unset: ofLimiter}},
	}, last: func() string {
		if b.Signal == QueueWait && b.Ceiling == 0 && b.MaxErrorRate == 0 {
			return "signal queue_wait needs ceiling or max_error_rate: nothing else would ever cut the limit"
		}
		return ""
	}}
}

var bandSignals = []option[Signal]{{"quantile", NoSignal}, {"ewma", EWMA}, {"queue_wait", QueueWait}}

// A bandController applies a Band. It has no state, because the limit comes with each window,
// and shares its settings with all controllers of equal settings: it costs 8 bytes instead of
// 96, or some 300 if its settings are unique.
type bandController struct {
	settings unique.Handle[Band] // with the defaults filled in
}

// Retune takes new settings.
func (c *bandController) Retune(l Law) bool {
	b := c.settings.Value()
	ok := retuned(&b, l)
	c.settings = unique.Make(b)
	return ok
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
	d := Decision{Limit: within(limit, w), Reason: reason, Next: Plan{MinSamples: b.MinSamples}}
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

// judge returns the direction of the limit and the signal that decided it. A guard that is exceeded
// comes before the signal; a guard that is near only forbids a raise.
func (b *Band) judge(w Window) (move, Reason) {
	if w.Completed() == 0 && !w.Used() {
		return hold, Reason{}
	}
	enough := enough(b.MinSamples, w)
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
		return hold, tooFew(w, enough)
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

// stuck judges a window that grew old before it had enough samples although the limit was used. To
// hold until more work ends would freeze the limit just when the work is slowest, so the limit is
// cut if the least latency is too long or, without any success, if the oldest work is too old.
func (b *Band) stuck(w Window) Reason {
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
func (b *Band) errors(w Window, enough int) Reason {
	if b.MaxErrorRate == 0 || w.Completed() < enough {
		return Reason{}
	}
	return b.guard(Errors, w.ErrorRate(), b.MaxErrorRate)
}

func (b *Band) ceiling(w Window, enough int) Reason {
	if b.Ceiling == 0 || w.Samples < enough {
		return Reason{}
	}
	return b.guard(quantile(b.Quantile), seconds(w.Quantile(b.Quantile), 1), seconds(b.Ceiling, 1))
}

func (b *Band) guard(s Signal, have, bound float64) Reason {
	return stand(s, have, bound*(1-b.Tolerance), bound, bound)
}

// signal compares the signal with the band around the target.
func (b *Band) signal(w Window) Reason {
	signal, have := measured(b.Signal, b.Quantile, w)
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

// seconds scales d. It rounds to the nanosecond, so that a p95 of 115 ms is not above 100 ms plus
// 15%.
func seconds(d time.Duration, by float64) float64 {
	return math.Round(float64(d)*by) / float64(time.Second)
}

// cut returns the limit after a cut: at least one slot less.
func (b *Band) cut(limit float64, r Reason) float64 {
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

// step returns the number of slots to add: at least one.
func (b *Band) step(r Reason) float64 {
	if !b.Proportional {
		return float64(b.Step)
	}
	distance := 1 - min(r.Have, r.Want)/max(r.Have, r.Want)
	return max(1, wholeUp(distance*float64(b.Step)))
}
