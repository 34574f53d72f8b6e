package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Pushback is the law's state of a downstream that refuses work, or whose answers come after
// their callers have left. Both are marks of congestion, like a marked packet with ECN: they
// need no latency, and all limiters of the downstream see them at once.
//
// Load is not the cause of all marks. A quota of one client is refused at any limit, and some
// callers leave at once. This share is the floor: cuts do not lower it, and the law answers only
// to the share above it.
type pushback struct {
	ceiling float32 // of the limit, 0 if there is no ceiling
	step    float32 // the next rise
	steady  float32 // seconds since it moved
	floor   float32
	recent  tally // faded
	low     tally // under the lower limits of probes, since the floor moved
	trial   trial
}

// A trial is a row of cuts that shows whether they lower the share.
type trial struct {
	tally                   // since the last cut or verdict
	first           float32 // share above the floor after the first cut
	target, ceiling float32 // before the first cut
	cuts            uint8   // so far, 0 if there is no trial
	climbing        bool    // before the first cut
}

const (
	// tolerable is the share above the floor at which the limit is cut. The ceiling rises
	// while less than half of this share is refused.
	tolerable = 0.04
	// leastPushback is the refused work that shows a share, enoughPushback that measures it.
	leastPushback  = 3
	enoughPushback = 12
	pushbackMemory = 5.0 // seconds in which refused work fades
	mostLate       = 2.5 * tolerable
	// Two cuts after the first have to lower the share to noHelp of it. Otherwise it is the
	// floor.
	mostCuts = 3
	noHelp   = 0.7
	// A cut takes deepCut of the share off the limit, as DCTCP does, and at least leastCut. With
	// a third, ten workers whose callers leave after two latencies have 54% of their capacity in
	// seconds 5 to 17 and not 65.
	deepCut  = 1.0 / 2
	leastCut = 0.05
	// othersCut is how long other limiters of the downstream may take for their cuts, in
	// seconds.
	othersCut = 0.25
	// riseEvery is the time between rises, in seconds. With 0.3 a downstream that allows a
	// rate refuses 8.5% and not 6.3; with 1, one that grew has 86% of its capacity and not
	// 94.
	riseEvery = 0.5
)

// measure learns from a window outside a probe.
func (p *pushback) measure(r reading, noLoad float64) {
	p.recent.fade(portable.FiniteExp(-r.span / pushbackMemory))
	p.recent.add(r)
	p.steady += float32(r.span)
	t := &p.trial
	if t.cuts == 0 && p.isMeasured() {
		t.tally = tally{}
	}
	t.add(r)
	if t.cuts > 0 {
		if p.isJudged(noLoad) && p.excess() < tolerable/2+t.deviation(p.floor) {
			*t = trial{}
		}
		return
	}
	p.recent.marked = min(p.recent.marked, float32((p.floor+mostLate)*p.recent.sent)) // or an outage would last
	p.lower(&p.recent)
	if p.ceiling > 0 && p.isQuiet(r) && float64(p.steady) > max(riseEvery, 4*noLoad) {
		p.ceiling += p.step
		p.step *= 2
		p.steady = 0
	}
}

// isQuiet reports whether a limit at the ceiling is reached and little more is refused than the
// floor explains.
func (p *pushback) isQuiet(r reading) bool {
	reached := r.saturated && r.limit >= math.Round(float64(p.ceiling))
	return reached && !p.isLoud() && (p.floor > 0 || r.marked < tolerable)
}

// isLoud reports whether the recent share is too high for the ceiling to rise.
func (p *pushback) isLoud() bool {
	return p.recent.share() >= p.floor+tolerable/2+p.recent.deviation(p.floor)
}

// rose reports whether the ceiling rose after the last window.
func (p *pushback) rose() bool { return p.ceiling > 0 && p.steady == 0 && p.trial.cuts == 0 }

// isPushedBack reports whether to cut the limit because the downstream refuses work, or because
// its answers come too late.
func (c *setpointController) isPushedBack(r reading) bool {
	p := &c.regulator.push
	t := &p.trial
	switch {
	case t.cuts > 0:
		return p.isJudged(c.regulator.noLoad)
	case p.ceiling > 0 && p.steady > pushbackMemory && p.recent.marked >= enoughPushback && p.isLoud():
		return true
	case p.floor > 0:
		return p.isMeasured() && t.share() > p.floor+tolerable+float32(3*t.deviation(p.floor))
	}
	marked := r.overloaded
	if c.hasQueue(r) { // otherwise callers leave because they are impatient
		marked += r.late
	}
	return marked >= leastPushback && r.marked > tolerable+2*math.Sqrt(tolerable/(r.ended+r.overloaded))
}

// hasQueue reports whether late answers may be due to the limit. Until the latency rises, a start
// has too few slots and not too many.
func (c *setpointController) hasQueue(r reading) bool {
	return r.saturated && (!c.regulator.climbing || r.latency > quickClimb*c.regulator.noLoad)
}

// isMeasured reports whether enough work came to compare its share with the floor.
func (p *pushback) isMeasured() bool {
	return float32((p.floor+tolerable)*p.trial.sent) >= enoughPushback
}

// isJudged reports whether enough work came since the last cut to judge it.
func (p *pushback) isJudged(noLoad float64) bool {
	t := &p.trial
	low := t.marked+1 < (p.floor+tolerable/2)*t.sent
	return (low || t.marked >= enoughPushback) && float64(p.steady) > max(othersCut, 2*noLoad)
}

// excess is the share above the floor since the last cut.
func (p *pushback) excess() float32 { return p.trial.share() - p.floor }

// yield cuts the limit. If the downstream refuses work, the first cut goes to the work that it
// served at a time, since further slots only collect refusals.
func (c *setpointController) yield(r reading) Decision {
	k := c.regulator
	p, t := &k.push, &k.push.trial
	excess := p.excess()
	if t.cuts == 0 { // the work before this window may have met no overload
		excess = float32(r.marked) - p.floor
	}
	if t.cuts > 0 && r.limit <= r.min || t.cuts == mostCuts && excess > noHelp*t.first {
		return c.restore(r)
	}
	to := math.Round(min(r.limit, r.peak) * (1 - max(leastCut, deepCut*float64(excess))))
	switch t.cuts {
	case 0:
		*t = trial{target: float32(k.target), ceiling: p.ceiling, climbing: k.climbing}
		if r.overloaded >= r.late {
			to = p.served(r)
		}
	case 1, mostCuts:
		t.first, t.cuts = excess, 1
	}
	t.cuts++
	t.tally, p.steady = tally{}, 0
	to = max(1, min(to, r.limit-max(1, leastCut*r.limit)))
	p.ceiling, p.step = float32(to), float32(max(1, shareRise*math.Sqrt(to)))
	k.climbing = false
	k.aim(k.target, r)
	to = r.allowed(k.limit())
	why := Reason{Above, Pushback, r.marked, tolerable}
	if r.late > r.overloaded {
		why.Signal = Lateness
	}
	return Decision{Limit: to, Reason: why, Next: k.plan(r, to)}
}

// restore ends a trial whose cuts did not help. The share is the floor, and the limit returns.
func (c *setpointController) restore(r reading) Decision {
	k := c.regulator
	p, t := &k.push, k.push.trial
	p.floor, p.ceiling, p.recent, p.low, p.trial = t.share(), t.ceiling, t.tally, tally{}, trial{}
	k.climbing = t.climbing
	k.aim(float64(t.target), r)
	return c.steady(r)
}

// served is the work that the downstream served at a time. If the limit was not reached, a
// small share is no reason to go from the peak to the mean.
func (p *pushback) served(r reading) float64 {
	if r.saturated {
		return math.Round(r.n)
	}
	return math.Round(max(r.n, r.peak*(1-2*r.marked), r.limit/2))
}

// probed learns from a window of a probe. A probe lowers all limits of the downstream, and with
// them the part of the floor that was load after all.
func (p *pushback) probed(r reading) {
	p.low.add(r)
	if p.floor*p.low.sent >= enoughPushback {
		p.lower(&p.low)
		p.low = tally{}
	}
}

// lower lowers the floor to a share that is smaller.
func (p *pushback) lower(t *tally) { p.floor = min(p.floor, t.share()+t.deviation(p.floor)) }

// forget undoes the cuts of a trial, because nothing is served at all: no limit helps.
func (p *pushback) forget(r reading, k *regulator) {
	target := max(k.target, float64(p.trial.target))
	*p = pushback{}
	k.aim(target, r)
}

// hurried plans the window after a rise of the ceiling: a slot too many costs refusals.
func hurried(p Plan, latency float64) Plan {
	p.Settle, p.Interval = 0, duration(max(leastSpan, min(latency, quickSpan)))
	p.MinSamples, p.Carried = leastDone, true
	return p
}

// A tally counts the work that was sent to the downstream and the marks of congestion.
type tally struct{ marked, sent float32 }

func (t *tally) add(r reading) {
	t.marked += float32(r.overloaded + r.late)
	t.sent += float32(r.ended + r.overloaded)
}

func (t *tally) fade(kept float64) {
	t.marked, t.sent = float32(t.marked*float32(kept)), float32(t.sent*float32(kept))
}

func (t *tally) share() float32 { return t.marked / max(t.sent, 1) }

// deviation is a standard error of a share that is measured on this work.
func (t *tally) deviation(share float32) float32 {
	return float32(math.Sqrt(float64(share * (1 - share) / max(t.sent, 1))))
}
