package law

import "math"

// A trial is a row of cuts that shows whether they lower the share.
type trial struct {
	tally                   // since the last cut or verdict
	first           float32 // share above the floor after the first cut
	target, ceiling float32 // before the first cut
	cuts            uint8   // so far, 0 if there is no trial
	climbing        bool    // before the first cut
}

const (
	// tolerable is the share above the floor at which a trial begins.
	tolerable = 0.04
	// leastPushback is the number of refusals that shows a share, and enoughPushback is the number
	// that measures the share.
	leastPushback  = 3
	enoughPushback = 12
	// mostCuts allows two cuts after the first, which have to lower the share to noHelp of its
	// value. Otherwise the share is the floor.
	mostCuts = 3
	noHelp   = 0.7
	leastCut = 0.05
)

// isPushedBack reports whether to cut the limit because the downstream refuses work, or because
// its answers come too late.
func (c *setpointController) isPushedBack(r reading) bool {
	p := &c.regulator.push
	t := &p.trial
	switch {
	case t.cuts > 0:
		return p.isJudged(c.regulator.noLoad)
	case p.hasFallen():
		return true
	case p.floor > 0:
		return p.isMeasured() && t.share() > p.floor+tolerable+float32(3*t.deviation(p.floor))
	}
	marked := 0.0
	if !p.isSearching() {
		marked = r.overloaded
	}
	if c.hasQueue(r) { // otherwise the limit does not make answers late
		marked += r.late
	}
	return marked >= leastPushback && r.marked > tolerable+2*math.Sqrt(tolerable/(r.ended+r.overloaded))
}

// hasQueue reports whether late answers may be due to the limit. When a load ends, its longest work
// ends last and late, so the limit must be reached now too.
func (c *setpointController) hasQueue(r reading) bool {
	return r.saturated && c.regulator.isReached() && r.latency > nearNoLoad*c.regulator.noLoad
}

// isMeasured reports whether enough work came to compare its share with the floor.
func (p *pushback) isMeasured() bool {
	return float32((p.floor+tolerable)*p.trial.sent) >= enoughPushback
}

// isJudged reports whether enough work came since the last cut to judge it.
func (p *pushback) isJudged(noLoad float64) bool {
	t := &p.trial
	low := t.marked+1 < (p.floor+tolerable/2)*t.sent
	return (low || t.marked >= enoughPushback) && float64(p.steady) > max(apart.Seconds(), 2*noLoad)
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
	// A cut takes half of the share off the limit, as a cut of DCTCP does. With a third, ten
	// workers whose callers leave after two latencies have 54% of their capacity in seconds 5 to 17
	// and not 65.
	to := math.Round(min(r.limit, r.peak) * (1 - max(leastCut, float64(excess)/2)))
	switch t.cuts {
	case 0:
		*t = trial{target: float32(k.target), ceiling: p.ceiling, climbing: k.climbing}
		if p.hasFallen() { // these were the first cuts
			t.target, t.ceiling = max(t.target, p.top), p.top
			t.first, t.cuts = p.recent.share()-p.floor, mostCuts-2
		}
		if r.overloaded >= r.late {
			to = p.served(r)
		}
	case 1, mostCuts:
		t.first, t.cuts = excess, 1
	}
	t.cuts++
	t.tally, p.steady = tally{}, 0
	to = max(1, min(to, r.limit-max(1, leastCut*r.limit)))
	p.ceiling, p.step = float32(to), 1
	k.climbing = false
	k.aim(k.target, r)
	to = r.allowed(k.limit())
	p.late = r.late > r.overloaded
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

// forget undoes the cuts of a trial, because the downstream serves no work at all: no limit helps.
func (p *pushback) forget(r reading, k *regulator) {
	target := max(k.target, float64(p.trial.target))
	*p = pushback{}
	k.aim(target, r)
}
