package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Pushback is the law's state of a downstream that refuses work, or whose answers come too late.
// Both are marks of congestion, like a marked packet with ECN: they need no latency, and all
// limiters of the downstream see them at once.
//
// The first marks start a trial. Once its cuts have lowered the share of refused work, the
// ceiling rises until work is refused again, and falls by the refused work, as the window of
// TCP does. Meanwhile the slot of refused work rests for a latency. Each slot then sends work
// at one pace, and a window shows how many slots are too many. Without the rest, one slot too
// many sends work as fast as the downstream refuses it.
//
// Load is not the cause of all marks. Work above the quota of one client is refused at any limit,
// and some callers do not wait. This share is the floor: cuts do not lower it, and the law answers
// only to the share above it.
type pushback struct {
	ceiling float32 // of the limit, 0 if there is no ceiling
	step    float32 // the next rise below top
	steady  float32 // seconds since a rise, or a cut of a trial
	late    bool    // the last trial was due to late work
	lowered bool    // the last window lowered the ceiling
	top     float32 // the ceiling at which work was refused, smoothed; 0 if it is not known
	floor   float32
	recent  tally // faded
	low     tally // in windows after cuts and in probes, since the last verdict
	trial   trial
}

const (
	pushbackMemory = 5.0 // seconds in which refused work fades
	// A window with refused work takes cutRefused of that work off the ceiling. With 1, drawn
	// downstreams serve 0.6 points less; with 0.5, a downstream that allows a rate refuses 9.3% and
	// not 6.3. The window also takes stepShare of the ceiling, so that larger limiters give up more
	// slots. With 0, eight limiters send 8% that is refused and not 3; with 0.06, they serve 0.8
	// points less. Above the ceiling at which work was refused, stepShare is the rise in a window.
	// With 0.3, eight limiters send 16% that is refused and not 3.
	cutRefused = 0.8
	stepShare  = 0.03
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
			p.lower(&t.tally)
			*t, p.lowered = trial{}, false // or the trial would begin anew
		}
		return
	}
	p.lower(&p.recent)
	if p.ceiling > 0 {
		p.judge(r)
		p.adjust(r, noLoad)
	}
}

// judge learns the floor from the windows after cuts, in which load causes fewer refusals.
func (p *pushback) judge(r reading) {
	if !p.lowered {
		return
	}
	p.low.add(r)
	recent := p.recent.share()
	if p.low.sent*recent < enoughPushback {
		return
	}
	if share := p.low.share(); share-p.floor > noHelp*(recent-p.floor) {
		p.floor = share
	}
	p.lower(&p.low)
	p.low = tally{}
}

// adjust moves the ceiling: up until work is refused, and down by the refused work.
func (p *pushback) adjust(r reading, noLoad float64) {
	c, floor := float64(p.ceiling), float64(float64(p.floor)*(r.ended+r.overloaded))
	refused := r.overloaded > floor+math.Sqrt(floor)
	switch {
	case refused:
		if p.step > 1 || !p.lowered {
			p.top = max(p.ceiling, (p.top+p.ceiling)/2)
		}
		cut := float64(cutRefused*(r.overloaded-floor)) + float64(stepShare*c)
		c = max(1, c/2, c-max(1, cut))
		p.step = 1
	case p.isReached(r) && (!p.late || p.isQuiet(r, noLoad)):
		c += p.rise()
		p.step++
		p.steady = 0
	}
	p.lowered = refused && math.Round(c) < r.limit
	p.ceiling = float32(c)
}

// rise is the next rise of the ceiling: one slot, then two and so on, up to the ceiling at which
// work was refused. Above it the ceiling rises slowly.
func (p *pushback) rise() float64 {
	rise := max(1, float64(stepShare*float64(p.ceiling)))
	if p.top == 0 || p.ceiling < p.top {
		rise = max(rise, float64(p.step))
	}
	return rise
}

// hasFallen reports whether cuts in a row have halved the ceiling. A trial then shows whether load
// is the cause: without the trial, a quota of 20% that begins after an overload leaves 55% of the
// goodput, and not 98. Below startLimit slots a share is too rough: eight limiters of 20 slots
// serve 95% there and not 96.
func (p *pushback) hasFallen() bool {
	return p.isSearching() && p.lowered && p.floor < tolerable && p.ceiling >= startLimit && p.ceiling < p.top/2
}

// isReached reports whether the ceiling holds work back.
func (p *pushback) isReached(r reading) bool {
	return r.saturated && r.limit >= math.Round(float64(p.ceiling))
}

// isQuiet reports whether the ceiling that late work set may rise: little work is late, and hardly
// any work waits. A rise makes work late only after the time in the queue.
func (p *pushback) isQuiet(r reading, noLoad float64) bool {
	return r.marked < float64(p.floor+tolerable) && r.latency < nearNoLoad*noLoad && float64(p.steady) > 4*noLoad
}

// rose reports whether the ceiling rose after the last window.
func (p *pushback) rose() bool { return p.ceiling > 0 && p.steady == 0 && p.trial.cuts == 0 }

// isSearching reports whether the law searches for the highest ceiling at which the downstream
// refuses no work.
func (p *pushback) isSearching() bool { return p.ceiling > 0 && !p.late && p.trial.cuts == 0 }

// cycle is the length of a window, and of a rest without a floor, in seconds: one latency. Below
// usualLimit slots it is longer, since one slot too many is a large share of so few slots. With one
// latency, eight limiters of 20 slots send 27% that is refused, and not 6.
func (p *pushback) cycle(noLoad float64) float64 {
	if !p.isSearching() {
		return noLoad
	}
	return max(noLoad, min(noLoad*usualLimit/float64(p.ceiling), quickSpan))
}

// rest is how long the slot of refused work rests, in seconds.
func (p *pushback) rest(noLoad float64) float64 {
	if !p.isSearching() {
		return 0
	}
	return p.cycle(noLoad) * float64(1-p.floor)
}

// probed learns from a window of a probe. A probe lowers all limits of the downstream, and with the
// limits the part of the floor that load causes after all.
func (p *pushback) probed(r reading) {
	p.low.add(r)
	if p.floor*p.low.sent >= enoughPushback {
		p.lower(&p.low)
		p.low = tally{}
	}
}

// lower lowers the floor to the share of a tally plus its standard error, if the sum is smaller.
func (p *pushback) lower(t *tally) { p.floor = min(p.floor, t.share()+t.deviation(p.floor)) }

// hurried plans a window of the given length, in which each resting slot shows once.
func hurried(p Plan, length float64) Plan {
	p.Settle, p.Interval = 0, duration(max(leastSpan, length))
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
