package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Pushback is the law's state of a downstream that refuses work. Refused work is a mark of
// congestion, like a marked packet with ECN: it needs no latency, and all limiters of the
// downstream see it at once.
type pushback struct {
	ceiling       float32 // of the limit, 0 if there is no ceiling
	step          float32 // the next rise
	steady        float32 // seconds since it moved
	refused, sent float32 // recent work, faded
	trial         trial
}

// A trial shows whether cuts lower the share of refused work.
type trial struct {
	share         float32 // refused before the first cut
	target        float32 // before the first cut
	refused, sent float32 // work since the last cut
	cuts          uint8   // so far, 0 if there is no trial
	quota         bool    // cuts did not lower the share: its cause is not load
	quotas        uint8   // trials in a row with that result
	ignored       uint8   // ticks until the next trial
}

const (
	// tolerable is the share above which the limit is cut. The ceiling rises while less than
	// half of this share is refused.
	tolerable = 0.04
	// leastPushback is the refused work that shows a share. enoughPushback is the refused
	// work to expect before a verdict on a cut.
	leastPushback  = 3
	enoughPushback = 12
	pushbackMemory = 5.0 // seconds in which refused work fades
	mostLate       = 2.5 * tolerable
	// A trial ends after mostCuts cuts that do not halve the share. After a trial that found
	// a quota, it ends after one.
	mostCuts   = 3
	mostQuotas = 3    // double the time to the next trial
	leastCut   = 0.05 // of the limit
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
	if p.trial.quota {
		return
	}
	sent := float32(r.ended + r.overloaded)
	kept := float32(portable.FiniteExp(-r.span / pushbackMemory))
	p.refused, p.sent = float32(p.refused*kept)+float32(r.overloaded), float32(p.sent*kept)+sent
	p.refused = min(p.refused, mostLate*p.sent) // or an outage would keep the ceiling for long
	p.steady += float32(r.span)
	if p.trial.cuts > 0 {
		p.trial.refused, p.trial.sent = p.trial.refused+float32(r.overloaded), p.trial.sent+sent
		if p.judged(noLoad) && !p.trial.failed() {
			p.trial = trial{}
		}
		return
	}
	reached := r.saturated && r.limit >= math.Round(float64(p.ceiling))
	if p.ceiling > 0 && reached && float64(p.steady) > max(riseEvery, 4*noLoad) && r.pushed < tolerable && p.refused < tolerable/2*p.sent {
		p.ceiling += p.step
		p.step *= 2
		p.steady = 0
	}
}

// rose reports whether the ceiling rose after the last window.
func (p *pushback) rose() bool { return p.ceiling > 0 && p.steady == 0 && p.trial.cuts == 0 }

// judged reports whether enough work came since the last cut to judge it.
func (p *pushback) judged(noLoad float64) bool {
	return p.trial.share*p.trial.sent >= enoughPushback && float64(p.steady) > max(othersCut, 2*noLoad)
}

// failed reports whether more than half of the share is still refused.
func (t *trial) failed() bool { return t.refused > t.share/2*t.sent }

// isPushedBack reports whether to cut the limit because the downstream refuses work.
func (c *setpointController) isPushedBack(r reading) bool {
	p := &c.regulator.push
	switch {
	case p.trial.quota:
		return false
	case p.trial.cuts > 0:
		return p.judged(c.regulator.noLoad)
	}
	return r.overloaded >= leastPushback && r.pushed > tolerable
}

// yield cuts the limit to the work that the downstream served at a time: further slots only
// collect refusals. A trial of cuts that all fail restores the limit.
func (c *setpointController) yield(r reading) Decision {
	k := c.regulator
	p, t := &k.push, &k.push.trial
	switch {
	case t.cuts == 0:
		p.try(r, k.target)
	case t.cuts == mostCuts || t.quotas > 0:
		target, quotas := float64(t.target), min(t.quotas+1, mostQuotas)
		*p = pushback{trial: trial{quota: true, quotas: quotas, ignored: 1<<quotas - 1}}
		k.aim(target, r)
		return c.steady(r)
	}
	cut := leastCut
	if t.cuts > 0 {
		cut = max(cut, float64(t.share)/4)
	}
	t.cuts++
	t.refused, t.sent, p.steady = 0, 0, 0
	to := max(1, r.limit/2, min(p.served(r), r.limit-max(1, cut*r.limit)))
	p.ceiling, p.step = float32(to), float32(max(1, shareRise*math.Sqrt(to)))
	k.climbing = false
	k.aim(k.target, r)
	to = r.allowed(k.limit())
	return Decision{Limit: to, Reason: Reason{Above, Pushback, r.pushed, tolerable}, Next: k.plan(r, to)}
}

// tick lets a new trial begin, some ticks after one that found a quota.
func (p *pushback) tick() {
	if t := &p.trial; t.ignored > 0 {
		t.ignored--
	} else {
		t.quota = false
	}
}

// forget undoes the cuts of a trial, because nothing is served at all: no limit helps.
func (p *pushback) forget(r reading, k *regulator) {
	target := max(k.target, float64(p.trial.target))
	*p = pushback{}
	k.aim(target, r)
}

// try begins a trial. The share of one window may be high by chance, so a trial confirms it.
func (p *pushback) try(r reading, target float64) {
	sure := r.pushed - 2*math.Sqrt(r.pushed/(r.ended+r.overloaded))
	p.trial.share = max(p.refused/p.sent, float32(sure))
	p.trial.target = float32(target)
}

// served is the work that the downstream served at a time. If the limit was not reached, a
// small share is no reason to go from the peak to the mean.
func (p *pushback) served(r reading) float64 {
	if r.saturated {
		return math.Round(r.n)
	}
	return math.Round(max(r.n, r.peak*(1-float64(2*p.trial.share))))
}

// hurried plans the window after a rise of the ceiling: a slot too many costs refusals.
func hurried(p Plan, latency float64) Plan {
	p.Settle, p.Interval = 0, duration(max(leastSpan, min(latency, quickSpan)))
	p.MinSamples, p.Carried = leastDone, true
	return p
}
