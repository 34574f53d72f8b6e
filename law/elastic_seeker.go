package law

import (
	"math"

	"github.com/weir-go/weir/internal/knee"
	"github.com/weir-go/weir/internal/portable"
)

// A seeker steers the limit by what its filter believes, and moves it as much as its
// doubt needs.
type seeker struct {
	tracker *knee.Tracker

	pulse pulse
	unit  float64 // of time, in seconds

	variation float64 // squared coefficient of variation of the latency, smoothed
	used      float64 // share of a reached limit that is in flight, smoothed
	peak      float64 // most work in flight, decaying
	target    float64 // wanted work in flight
	way       float64 // of the next move around the target: 1 or -1

	windows int         // since the curve changed
	change  knee.Change // which way it did

	probing, down bool    // a probe upwards is under way; the last probe was downwards
	waited        float64 // windows since the last probe
	every         float64 // windows between probes

	test test
	ebb  ebb
}

const (
	// price is the elasticity at which one more in flight is worth it no longer: 10%
	// more in flight must give 1% more throughput. From 0.08 to 0.12 scores
	// are within half a point.
	price = 0.10
	// budgetPrice is that where the budget bounds latency as well.
	budgetPrice = 0.08
	// budgetShare is what share of the budget is planned with: work in
	// flight varies. 0.9 scores 1 less on the named suite, 0.4 more on random systems.
	budgetShare = 0.8
	// mostShape bounds how steep a deadline is: latencies that hardly vary within a
	// window vary from window to window.
	mostShape = 3

	peakDecay = 10.0 // seconds
)

// newSeeker starts with a window in which the limit was reached.
func newSeeker(w Window, f flow, p pulse) *keptSeeker {
	k := seeker{
		tracker: &knee.Tracker{},
		pulse:   p, variation: 1, used: 1, target: float64(w.Limit), way: 1, every: firstProbe,
		test: test{base: p.least},
		ebb:  ebb{theta: firstTheta, base: base{latency: p.least, known: p.least > 0}},
	}
	if p.least > 0 && f.latency > farAbove*p.least {
		k.tracker.Absorb(knee.Observation{N: portable.Log(idleN), X: portable.Log(idleN / p.least), Weight: idleWeight})
	}
	kept := &keptSeeker{}
	kept.keep(&k)
	return kept
}

const (
	// farAbove is the latency, in units of that without load, from which the first overload is
	// taken for one: then the latency without load is a point on the curve too. With 4
	// instead of 5 work that became three times as slow was refused; without, shared
	// systems score 91.7 instead of 94.8.
	farAbove   = 5
	idleN      = 0.5
	idleWeight = 8
)

func (k *seeker) next(w Window, f flow, settings Elastic) (to float64, why Reason) {
	k.measure(w, f)
	z := knee.Observation{N: portable.Log(f.n), X: portable.Log(f.x)}
	z.Weight = 1 / ((0.1+k.variation)/f.done + noiseFloor*noiseFloor + float64(f.doubt*f.doubt/4))
	if stage := k.ebb.stage; stage != flowing {
		if stage < hushed {
			k.tracker.Absorb(z)
		}
		return k.ebbed(f), k.ebb.reason(f)
	}
	k.ebb.base.reference.add(f)
	change, again := k.tracker.Learn(z, knee.Circumstances{
		Saturated: f.saturated, Flooding: f.flooding, Probing: k.probing,
	})
	k.probing = again
	if change != knee.NoChange {
		k.change, k.windows, k.every = change, 0, firstProbe
	}
	k.windows++
	k.way = -k.way
	to, why = k.decide(f, settings.Budget.Seconds())
	if now := wallClock(w); k.ticked(f, now) {
		if rest := k.tick(f, now, settings.Replicas); k.ebb.stage != flowing {
			return rest, k.ebb.reason(f)
		}
	}
	return to, why
}

// reason explains the limit of an ebb.
func (e *ebb) reason(f flow) Reason { return Reason{Probing, Average, f.latency, e.base.latency} }

// noiseFloor is the deviation of ln X that no number of samples takes away: they depend on one
// another. 0.06 scores 2 less.
const noiseFloor = 0.1

func (k *seeker) measure(w Window, f flow) {
	if mean := w.Mean.Seconds(); mean > 0 {
		cv := w.Deviation.Seconds() / mean
		k.variation = portable.Toward(k.variation, min(cv*cv, 4), 0.2)
	}
	k.unit = k.pulse.observe(f, k.variation)
	if f.saturated {
		k.used = portable.Toward(k.used, min(max(f.n/f.limit, 0.6), 1), 0.3)
	}
	k.peak = max(k.peak*portable.FiniteExp(-f.span/max(peakDecay, 20*k.unit)), float64(w.Peak))
}

// decide returns the next limit.
func (k *seeker) decide(f flow, budget float64) (to float64, why Reason) {
	var b knee.Belief
	k.tracker.Believe(&b)
	if k.tracker.Center(portable.Log(f.n), b.Knee.Mean) {
		k.tracker.Believe(&b)
	}
	var j knee.Merit
	cost := price
	if budget > 0 {
		cost = budgetPrice
	}
	best := j.Weigh(&b, cost, budgetShare*budget, k.steepness())
	e := b.Elasticity(portable.Log(f.n))
	k.ebb.base.follow(f, k.variation, !f.saturated && e.Mean > 0.7 && k.ebb.ceiling == 0)
	k.ebb.hold(f)
	why = Reason{Within, Elasticity, e.Mean, cost}
	swing := 0.0
	switch queue := k.ebb.ceiling == 0 && k.test.judge(f, e.Mean); {
	case queue:
		k.target = min(k.target, max(leastCut*f.n, 1.5*f.x*k.test.base))
		why = Reason{Above, Average, f.latency, mostLatency * k.test.base}
	case f.saturated:
		k.approach(f, &j, best, e)
		swing = k.dither(&b, e)
		if k.probing || swing >= leastProbe {
			why.Code = Exploring
		}
	default:
		k.follow(f, best, e)
		why.Code = Unused
	}
	k.target = min(max(k.target, 0.5), 1.2*f.max)
	to = max(1, math.Round(k.target/k.used*portable.FiniteExp(swing*k.way)))
	if k.ebb.caps(k.target) && e.Mean >= 0 {
		to = max(1, math.Round(k.ebb.ceiling/k.used*portable.FiniteExp(leastSwing*k.way)))
		why = lean(Average, f.latency, k.ebb.theta*k.ebb.base.latency, f.limit, to)
	}
	if f.saturated && to == f.limit {
		to += k.way // a limit that stands still teaches nothing
	}
	if why.Code == Within {
		switch {
		case to > f.limit && e.Mean > cost:
			why.Code = Above
		case to < f.limit && e.Mean < cost:
			why.Code = Below
		}
	}
	return to, why
}

// steepness is the shape of the Weibull distribution that varies as the latency does
// (to 5%, from a coefficient of variation of 0.2 to 2).
func (k *seeker) steepness() float64 {
	return min(max(portable.Power(max(k.variation, 1e-4), -0.543), 0.5), mostShape)
}

// approach moves the target of a reached limit towards the best.
func (k *seeker) approach(f flow, j *knee.Merit, best float64, e knee.Normal) {
	if j.At(best)-j.At(k.target) <= worthwhile {
		return
	}
	if best < k.target && f.n < nearLimit*k.target {
		return
	}
	most := 1.6
	free := best > k.target && f.latency < calmLatency*k.test.base
	if free || e.Mean > 0.75 && e.Deviation() < 0.25 {
		most = 2.2
	}
	to := min(max(best, leastCut*f.n), most*f.n)
	if best > k.target {
		to = max(to, k.target)
	}
	way := portable.Log(to / k.target)
	if math.Abs(way) < 0.4 && !free {
		way /= 2
	}
	k.target *= portable.FiniteExp(way)
}

const (
	// calmLatency is the latency, in bases, below which nothing speaks against a climb: the
	// limit doubles from window to window.
	calmLatency = 1.3
	// nearLimit is the share of the target below which a point says nothing against it.
	nearLimit = 0.5
	// leastCut is what a cut leaves of the concurrency that ran.
	leastCut = 0.5
)

// worthwhile is the gain in throughput for which the target moves.
const worthwhile = 0.005

// follow moves the target of a limit that is not reached: headroom over the peak while the
// server has it, less once the server is past its own peak.
func (k *seeker) follow(f flow, best float64, e knee.Normal) {
	switch {
	case e.Mean > 0.7 && !f.filling:
		if k.target < 1.5*k.peak {
			k.target = max(k.target, min(best, 2.5*k.peak))
		} else if k.target > max(20, 4*k.peak) {
			k.target = max(20, 3*k.peak)
		}
	case f.latency < 2*k.test.base || f.n < nearLimit*k.target: // nothing speaks against the limit
	case e.Mean < 0.3 && e.Deviation() < 0.25 && f.n > 1.3*best:
		k.target = max(best, 0.7*f.n)
	}
}
