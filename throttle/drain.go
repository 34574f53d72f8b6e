package throttle

import (
	"cmp"
	"math"
	"time"

	"github.com/weir-go/weir/load"
)

// DrainRate paces writes at what the store really digests, corrected by how far its
// backlog is from the target: see the package documentation. It suits a store that
// says "written" before the work is done, such as an LSM tree, and needs a source
// that tells a [load.Drain]: without a [load.Drainer] in the Monitor, New returns an error.
//
// It fails where the backlog grows for other reasons than the work that is paced, and
// where what is digested comes in fewer and larger pieces than Smoothing evens out.
type DrainRate struct {
	// Gain is how much a backlog of nothing adds to the rate, and one of twice the
	// target takes from it, on average. Defaults to 0.8.
	Gain float64

	// Healthy is the share of the target below which the pace doubles each second
	// until there is none, less than 1. Defaults to 0.75: with 0.5, storms that could not
	// stall a store lost a sixth of their writes, now nothing (TestBadgerAtEase).
	Healthy float64

	// Smoothing is the time constant over which the drain is averaged. Defaults
	// to 5 s.
	Smoothing time.Duration

	// MaxDelay is the slowest pace: the time between two operations of cost 1.
	// Defaults to 1 s.
	MaxDelay time.Duration
}

const (
	defaultGain      = 0.8
	defaultHealthy   = 0.75
	defaultSmoothing = 5 * time.Second
	// ratioSmoothings is over how many Smoothings the ratio of cost to what
	// arrives is averaged: it belongs to the kind of work and changes slowly, but
	// what arrives comes a table at a time.
	ratioSmoothings = 6
	// knownAfter is the part of a Smoothing for which the store must have been busy
	// before its drain is taken for known.
	knownAfter = 5
	// A healthy store is let off step by step: all at once, hundreds of callers would
	// fill it to the brim before the next decision.
	doublesIn = time.Second
	doublings = 6
	// leastFactor is what a backlog however large leaves of the drain rate. A
	// store that still digests gets something to do. With 0.1 Badger went on to the
	// stall in one storm of two.
	leastFactor = 0.02
	// sawTargets is over how many targets' worth of digestion the backlog is averaged.
	// By what is there alone, writers waited a quarter longer (p99, TestBadger).
	sawTargets = 0.5
	// mostTargets is what a backlog counts as at most, in targets. With the default gain nothing
	// but leastFactor is left from 2.2 on, and a mean of more would only take longer to come back.
	mostTargets = 10
)

func (d DrainRate) start() (controller, error) {
	d.Gain = cmp.Or(d.Gain, defaultGain)
	d.Healthy = cmp.Or(d.Healthy, defaultHealthy)
	d.Smoothing = cmp.Or(d.Smoothing, defaultSmoothing)
	d.MaxDelay = cmp.Or(d.MaxDelay, time.Second)
	switch {
	case !(d.Gain > 0) || math.IsInf(d.Gain, 1):
		return nil, invalid("DrainRate.Gain", d.Gain, "0 (the default) or more")
	case !(d.Healthy > 0 && d.Healthy < 1):
		return nil, invalid("DrainRate.Healthy", d.Healthy, "0 (the default) to less than 1")
	case d.Smoothing < 0:
		return nil, invalid("DrainRate.Smoothing", d.Smoothing, "0 (the default) or more")
	case d.MaxDelay < 0:
		return nil, invalid("DrainRate.MaxDelay", d.MaxDelay, "0 (the default) or more")
	}
	return &drainLaw{DrainRate: d}, nil
}

// drainLaw is a DrainRate at work.
type drainLaw struct {
	DrainRate
	last       load.Drain
	backlog    float64 // on average
	seen       bool
	healthyFor time.Duration
	cost       float64 // admitted since the last entry in the books
	drained    faded   // what the store digested, per busy second
	paid       faded   // cost, per unit that arrived
}

func (l *drainLaw) next(s signals) demand {
	l.cost += s.cost
	if !s.fresh {
		l.seen = false // what happened meanwhile is not known
		return demand{}
	}
	l.book(s)
	rate, known := l.base()
	if l.healthyFor += s.dt; l.busy(s.drain) {
		l.healthyFor = 0
	}
	if !known || l.healthyFor >= doublings*doublesIn {
		return demand{}
	}
	rate *= math.Exp2(l.healthyFor.Seconds() / doublesIn.Seconds())
	return demand{rate: max(rate*l.correction(s.drain), 1/l.MaxDelay.Seconds())}
}

// correction is the share of the drain rate that brings the backlog to its target. It goes
// by the average, for a store that digests in pieces makes a saw of its backlog, and
// close to the limit also by what is there.
func (l *drainLaw) correction(d load.Drain) float64 {
	factor := 1 + l.Gain*(d.Target-l.backlog)/d.Target
	if d.Limit > d.Target {
		factor = min(factor, (d.Limit-d.Backlog)/(d.Limit-d.Target))
	}
	return max(factor, leastFactor)
}

// resume forgets the last drain: what happened since is not known.
func (l *drainLaw) resume(demand, float64) { l.seen = false }

// book adds what happened since the last decision. How fast the store digests shows
// only while it has something to digest.
func (l *drainLaw) book(s signals) {
	s.drain.Backlog = min(s.drain.Backlog, mostTargets*s.drain.Target)
	drained := s.drain.Drained - l.last.Drained
	if l.seen && drained >= 0 {
		arrived := drained + s.drain.Backlog - l.last.Backlog
		l.paid.add(l.cost, arrived, share(s.dt, ratioSmoothings*l.Smoothing))
		if l.busy(l.last) {
			l.drained.add(drained, s.dt.Seconds(), share(s.dt, l.Smoothing))
		}
	}
	if !l.seen {
		l.backlog = s.drain.Backlog
	}
	l.backlog += (s.drain.Backlog - l.backlog) * share(s.dt, l.saw(s.drain.Target))
	l.last, l.seen, l.cost = s.drain, true, 0
}

// saw is over how long the backlog is averaged, 0 as long as the drain is not known.
func (l *drainLaw) saw(target float64) time.Duration {
	if l.drained.sum <= 0 {
		return 0
	}
	seconds := sawTargets * target * l.drained.per / l.drained.sum
	return time.Duration(min(seconds, l.Smoothing.Seconds()) * float64(time.Second))
}

func (l *drainLaw) busy(d load.Drain) bool { return d.Backlog >= l.Healthy*d.Target }

// base is the rate that keeps the backlog as it is, once it is known.
func (l *drainLaw) base() (rate float64, known bool) {
	if l.paid.per <= 0 || l.paid.sum <= 0 || l.drained.per < l.Smoothing.Seconds()/knownAfter {
		return 0, false
	}
	return l.paid.sum / l.paid.per * (l.drained.sum / l.drained.per), true
}

// faded is a ratio of sums in which the past fades. Unlike an average of ratios it
// is unbiased from the first sample on, and does not mind one with nothing in it.
type faded struct{ sum, per float64 }

func (f *faded) add(sum, per, share float64) {
	f.sum += sum - f.sum*share
	f.per += per - f.per*share
	if math.IsInf(f.sum, 0) || math.IsInf(f.per, 0) {
		*f = faded{}
	}
}
