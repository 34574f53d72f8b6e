package law

import (
	"github.com/weir-go/weir/internal/portable"
)

type littleController struct {
	Little
	noLoad float64 // latency without load in seconds
	known  float64 // share of a full window behind noLoad
	peak   float64 // peak throughput per second
	recent float64 // throughput of the last window in which the limit was used
	since  float64 // seconds since noLoad was measured, or since the probe began
	pause  float64 // least seconds until the next probe
	phase  phase
}

// A phase is the purpose of the next window.
type phase uint8

const (
	ramping phase = iota // the limit grows from its start
	steady
	probing // the limit is lowered to measure noLoad
)

// Retune takes new settings and keeps all measurements.
func (c *littleController) Retune(l Law) bool { return retuned(&c.Little, l) }

func (c *littleController) Next(w Window) Decision {
	c.since += max(0, w.Elapsed.Seconds())
	to, reason, settle := c.judge(w)
	limit := within(to, w)
	d := Decision{Limit: limit, Reason: reason, Next: fresh(w, c.MinSamples, c.samples(), limit)}
	d.Next.Settle = duration(settle)
	return d
}

// samples is the number of samples that closes the next window.
func (c *littleController) samples() int {
	switch c.phase {
	case ramping:
		return min(c.MaxSamples, rampSamples)
	case probing:
		return c.MaxSamples / 2
	}
	return c.MaxSamples
}

// judge returns the next limit, the reason, and how many seconds to let it settle.
func (c *littleController) judge(w Window) (to float64, why Reason, settle float64) {
	enough, rate, now := enough(c.MinSamples, w), throughput(w), latency(w)
	limit := float64(w.Limit)
	switch {
	case w.Completed() == 0:
		return limit, Reason{}, 0
	case failing(w, enough):
		to, why = halved(w)
		return to, why, 0
	case w.Samples < enough || !(rate > 0) || now == 0:
		if c.phase == probing {
			c.measured(c.noLoad)
			limit = c.formula(c.noLoad)
		}
		return limit, tooFew(w, enough), 0
	case c.phase == probing:
		to, why = c.restore(rate, now)
		return to, why, 0
	}
	c.learn(w, rate, now)
	if c.since >= max(c.Remeasure.Seconds(), c.pause) {
		return c.probe(w, now)
	}
	to, why = c.step(w, now)
	return to, why, 0
}

// learn takes in a window. The first noLoad is the average of a full window's samples,
// because a noLoad that started too low could not rise.
func (c *littleController) learn(w Window, rate, now float64) {
	share := min(1, float64(w.Samples)/float64(c.MaxSamples))
	if c.known < 1 {
		c.known = min(1, c.known+share)
		c.noLoad = portable.Toward(c.noLoad, now, share/c.known)
	} else if now < c.noLoad {
		c.noLoad = portable.Toward(c.noLoad, now, c.EMA*share)
	}
	if w.Used() {
		c.recent = rate
		c.peak = portable.Toward(c.peak, rate, c.EMA/slower)
	}
	c.peak = max(c.peak, rate)
}

// formula is the limit that Little's law gives at a latency. It is rounded up, or a limit of
// a few slots would never find room for more.
func (c *littleController) formula(now float64) float64 {
	left := float64((2+c.Alpha)*c.noLoad) - now
	return wholeUp(c.peak * max(left, c.Floor*c.noLoad))
}

// step follows the formula if the limit was used. Without a queue it does not lower the
// limit: the formula lies below a full limit only if there is one.
func (c *littleController) step(w Window, now float64) (float64, Reason) {
	from, want := float64(w.Limit), (2+c.Alpha)/2*c.noLoad
	if !w.Used() {
		return from, Reason{Unused, Average, now, want}
	}
	to := c.formula(now)
	if to <= from {
		c.phase = steady
	}
	if now <= want {
		to = max(to, from)
	}
	return to, lean(Average, now, want, from, to)
}

// probe lowers the limit to measure the latency without load. If the limit is not used, or
// cannot be lowered, the measurement is immediate.
func (c *littleController) probe(w Window, now float64) (to float64, why Reason, settle float64) {
	from := float64(w.Limit)
	to = within(wholeUp(c.Probe*min(from, c.peak*c.noLoad)), w)
	if !w.Used() || to >= from {
		why = Reason{Rebased, NoLoad, now, c.noLoad}
		c.measured(now)
		return from, why, 0
	}
	settle = drain * now
	c.phase, c.since = probing, settle
	return to, Reason{Code: Probing}, settle
}

// restore ends a probe. Slower work has changed: its peak is the last throughput, and the
// limit may have far to go. Quicker work means that noLoad contained a queue, and may still.
func (c *littleController) restore(rate, now float64) (float64, Reason) {
	why := Reason{Rebased, NoLoad, now, c.noLoad}
	c.measured(now)
	switch {
	case why.Have > (1+c.Alpha)*why.Want:
		c.peak, c.phase = c.recent, ramping
	case why.Have*(1+c.Alpha) < why.Want:
		c.since = max(c.Remeasure.Seconds(), c.pause)
	}
	c.peak = max(c.peak, rate)
	return c.formula(now), why
}

// measured notes that the latency without load was measured just now.
func (c *littleController) measured(noLoad float64) {
	if c.phase == probing {
		c.phase, c.pause = steady, probeEvery*c.since
	}
	c.noLoad, c.known, c.since = noLoad, 1, 0
}
