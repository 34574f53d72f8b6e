package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A setpointController costs little until the limit is first reached.
type setpointController struct {
	Setpoint
	planned   Plan       // the last plan; an idle time keeps it, or looks back further
	regulator *regulator // nil until the limit is reached
	least     float64    // least latency so far, in seconds
	usual     float32    // limit for bursts on an idle server and for long work
	calm      bool       // a window was neither saturated nor filling, so least is without load
	members   uint16     // limiters that learn together, 0 if this one is alone
	part      float64    // the fair target of a limit that is not reached, 0 if none
}

// A setpointMove answers a window that it fits.
type setpointMove struct {
	name string
	fits func(*setpointController, reading) bool
	make func(*setpointController, reading) Decision
}

// moves is the law: the first move that fits answers the window.
var moves = [...]setpointMove{
	{"idle", (*setpointController).isIdle, (*setpointController).idle},
	{"burst", (*setpointController).isUnfinished, (*setpointController).extend},
	{"fail", (*setpointController).isFailing, (*setpointController).fail},
	{"wait", (*setpointController).hasTooLittle, (*setpointController).wait},
	{"leave", (*setpointController).isUnreached, (*setpointController).leave},
	{"probe", (*setpointController).isProbing, (*setpointController).probe},
	{"yield", (*setpointController).isPushedBack, (*setpointController).yield},
	{"tick", (*setpointController).isTick, (*setpointController).lower},
	{"look", (*setpointController).isDoubtful, (*setpointController).lower},
	{"stays", (*setpointController).isHeldByStays, (*setpointController).makeRoom},
	{"unused", (*setpointController).isUnused, (*setpointController).leaveUnused},
	{"hold", (*setpointController).isHolding, (*setpointController).steady},
	{"steer", func(*setpointController, reading) bool { return true }, (*setpointController).steer},
}

// Retune takes new settings and keeps the state.
func (c *setpointController) Retune(l Law) bool { return retuned(&c.Setpoint, l) }

// Next measures the window and makes the first move that fits.
func (c *setpointController) Next(w Window) Decision {
	r := readingOf(w)
	c.measure(r)
	i := 0
	for moves[i].name == c.Without || !moves[i].fits(c, r) {
		i++
	}
	d := moves[i].make(c, r)
	if k := c.regulator; k != nil {
		if p := &k.push; p.ceiling > 0 { // also for moves that keep the limit
			d.Limit = min(d.Limit, r.allowed(math.Round(float64(p.ceiling))))
		}
		d.Next.Rest, d.Next.MinDeadline = duration(k.push.rest(k.noLoad)), duration(k.noLoad)
	}
	if r.span > 0 {
		c.planned = d.Next
	}
	return d
}

// measure learns from a window that is a point on the curve.
func (c *setpointController) measure(r reading) {
	if k := c.regulator; k != nil {
		k.ticks.passed += duration(r.span).Nanoseconds() + c.planned.Settle.Nanoseconds()
	}
	if !r.isPoint() || c.isUnfinished(r) {
		return
	}
	if c.regulator == nil {
		upper := r.upper(1)
		if c.least == 0 || upper < c.least {
			c.least = upper
		}
		c.calm = c.calm || !r.saturated && !r.filling
		if !r.saturated && r.overloaded <= tolerable*(r.ended+r.overloaded) {
			return
		}
		c.regulator = newRegulator(r, c.least, c.calm)
		c.regulator.climbing = r.limit <= usualLimit && c.Without != "climb"
		if c.others() == 1 {
			c.regulator.start = startNew
		}
	}
	stays := 0.0
	if c.Without != "stays" && c.isHeldByStays(r) {
		stays = 1
	}
	k := c.regulator
	if k.stays = portable.Toward(k.stays, stays, 0.2); stays == 0 {
		k.measure(r)
	}
}

const (
	// startLimit is the limit to start from. With 10, shared servers score 2.5 points less, with 20
	// they score 8 less.
	startLimit = 4
	// usualLimit is the initial limit of other laws. Setpoint goes there if bursts reach an idle
	// server, or if work has been in flight for more than quickSpan, unless the configuration gives
	// the initial limit. Work that took longer than quickSpan climbs to this limit before a probe.
	usualLimit = 20
)

// Start returns the limit to start from: 4.
func (Setpoint) Start() int { return startLimit }

func (c *setpointController) isIdle(r reading) bool { return r.span <= 0 }

// idle answers a time without work. Work that came and went since the start is no overload. The
// next windows last longer, so that work which comes once in minutes is measured in the end:
// without that, a limiter keeps its start limit, and half of each batch of 8 is refused for ever.
func (c *setpointController) idle(r reading) Decision {
	limit := c.resumed(r)
	if c.regulator == nil && r.asked {
		limit = r.allowed(max(limit, float64(c.usual)))
		c.planned.MaxAge = min(2*c.planned.MaxAge, mostPatience)
	}
	d := Decision{Limit: limit, Next: c.planned}
	if limit != r.limit {
		d.Reason = Reason{TooFew, NoSignal, r.done, leastDone}
	}
	return d
}

func (c *setpointController) isUnfinished(r reading) bool {
	return r.unfinished && (c.regulator != nil || r.saturated)
}

func (c *setpointController) extend(r reading) Decision {
	if c.regulator == nil { // its window may have begun hours before the burst
		r.span = min(r.span, max(2*r.age, leastSpan))
	}
	return Decision{Limit: r.limit, Reason: Reason{TooFew, NoSignal, r.ended, r.last}, Next: r.extended()}
}

// isFailing reports whether hardly anything succeeds.
func (c *setpointController) isFailing(r reading) bool {
	return r.done < leastDone && (r.ended >= leastWindow || r.ended+r.abandoned >= leastWindow && c.hangs(r))
}

// hangs reports whether the work that ended took longer than any target latency.
func (c *setpointController) hangs(r reading) bool {
	noLoad := c.least
	if k := c.regulator; k != nil {
		noLoad = k.noLoad
	}
	return noLoad > 0 && r.stay > mostTolerance*noLoad
}

// fail answers a window in which hardly anything succeeds. Work that fails at once needs no lower
// limit. Work that hangs does, even if the limit is not reached: many limiters that each have a few
// slots too many can stop a server. Once work succeeds again, the limit climbs as in a start.
func (c *setpointController) fail(r reading) Decision {
	if !r.saturated && !c.hangs(r) {
		return Decision{Limit: r.limit, Reason: Reason{Unused, Errors, r.failed, 0}, Next: afresh}
	}
	to := r.allowed(min(r.limit, r.peak) / 2)
	if k := c.regulator; k != nil {
		k.test.running, k.climbing = false, c.Without != "climb"
		k.aim(to*k.used, r)
	}
	return Decision{Limit: to, Reason: Reason{Above, Errors, r.failed, 0}, Next: afresh}
}

func (c *setpointController) hasTooLittle(r reading) bool { return !r.isPoint() }

func (c *setpointController) wait(r reading) Decision {
	limit := c.resumed(r)
	if k := c.regulator; k != nil && k.push.trial.cuts > 0 && r.done == 0 && r.overloaded >= leastPushback {
		k.push.forget(r, k)
		limit = r.allowed(k.limit())
	}
	if c.regulator == nil && r.age > quickSpan {
		limit = r.allowed(max(limit, float64(c.usual)))
	}
	return Decision{Limit: limit, Reason: Reason{TooFew, NoSignal, r.done, leastDone}, Next: r.patient()}
}

func (c *setpointController) isUnreached(reading) bool { return c.regulator == nil }

func (c *setpointController) leave(r reading) Decision {
	p := afresh
	if r.limit >= float64(c.usual) {
		p.MinSamples = enoughDone
	}
	return Decision{Limit: r.limit, Reason: Reason{Unused, Average, r.latency, r.latency}, Next: p}
}

// resumed gives up a running probe and returns the limit from before the probe.
func (c *setpointController) resumed(r reading) float64 {
	if k := c.regulator; k != nil && k.test.running {
		k.test.running = false
		return r.allowed(k.limit())
	}
	return r.limit
}
