package law

import "math"

// An ebb is how limiters that know nothing of each other learn what their own moves cannot
// tell them. With a share s of the work in flight on a server of elasticity e, one's own
// throughput has the elasticity 1-s(1-e): it follows one's share of a queue that all of
// them fill. So at ticks of the wall clock all of them lower their limits together for a
// few latencies. What the latency does then is what the server does.
type ebb struct {
	sharing  evidence
	schedule schedule
	stage    stage
	reached  float64 // seconds since the limit was last reached

	reference sums  // of the windows before, faded
	from      point // before the ebb
	resume    float64

	base    float64 // latency of the work itself, in seconds
	theta   float64 // the latency that is aimed at, in units of base
	ceiling float64 // of the concurrency; 0 for none
	over    float64 // share of windows in which the target was above it, smoothed
	ebbs    int
	known   bool    // the base was measured without load, or by an ebb
	pressed float64 // share of windows in which work was held back, smoothed
}

// A stage is where in an ebb the current window is.
type stage uint8

const (
	flowing   stage = iota // none of the below
	ebbing                 // measured under a lowered limit
	deeper                 // and once more
	deepest                // and again
	hushed                 // not measured, by a limiter that does not take part
	listening              // and measured
)

type point struct{ n, x, latency, done float64 }

// sums are what windows measured, faded by number.
type sums struct{ area, work, span, done float64 }

const keptReference = 0.6

func (s *sums) add(f flow) {
	s.area = float64(s.area*keptReference) + float64(f.latency*f.x*f.span)
	s.work = float64(s.work*keptReference) + float64(f.x*f.span)
	s.span = float64(s.span*keptReference) + f.span
	s.done = float64(s.done*keptReference) + f.done
}

func (s *sums) point() point {
	return point{s.area / s.span, s.work / s.span, s.area / s.work, s.done}
}

func (f flow) point() point { return point{f.n, f.x, f.latency, f.done} }

const (
	deepEbb    = 0.6
	calmEbb    = 0.75
	shortEbb   = 0.1  // an ebb of ln n by less teaches nothing
	leastEbb   = 10.0 // completions
	queueing   = 0.5  // elasticity of the latency beyond which an ebb found a queue
	idling     = 0.25
	firstTheta = 1.4
	leastTheta = 1.2
	mostTheta  = 3.0
	thetaGain  = 0.4
	wantedQ    = 0.7
)

// hot reports whether the latency is far above that of the work itself.
func (e *ebb) hot(f flow) bool {
	return e.base > 0 && min(e.reference.point().latency, f.latency) > tHot*e.base
}

// calm reports whether what is known of the server is good enough for smaller ebbs.
func (e *ebb) calm(f flow) bool { return e.ebbs >= 2 && !e.hot(f) && e.over < 0.5 }

// follow moves the base between ebbs.
func (e *ebb) follow(f flow, variation, elasticity float64) {
	switch {
	case e.base == 0:
		e.base = f.latency
	case f.latency < e.base:
		e.base = min(e.base, toward(e.base, f.surely(variation), 0.3))
	case !f.saturated && elasticity > 0.7 && e.ceiling == 0:
		e.base = toward(e.base, f.latency, 0.1)
	}
}

// surely is a latency that is not too low by chance.
func (f flow) surely(variation float64) float64 {
	return f.latency * exp(math.Sqrt((0.1+variation)/f.done))
}

// hold moves the ceiling between ebbs so that the latency stays near theta times the
// base. The root makes large shares shrink and small ones grow.
func (e *ebb) hold(f flow) {
	if e.ceiling == 0 {
		return
	}
	if f.saturated || f.latency > e.theta*e.base && f.n > e.ceiling/2 {
		e.ceiling = min(e.ceiling, 1.3*f.n)*math.Sqrt(min(max(e.theta*e.base/f.latency, 0.6), 1.25)) + 0.25*math.Sqrt(e.ceiling)
		e.ceiling = max(e.ceiling, 0.7*f.x*e.base, 1)
	}
}

// tick decides what to do at a tick and returns the limit.
func (k *seeker) tick(f flow, now int64) float64 {
	e := &k.ebb
	e.from, e.resume = e.reference.point(), k.still(f)
	recent := e.reached < max(10, float64(e.schedule.period)/1e9) && (tKnown == 0 || !e.known || e.ceiling > 0 || e.hot(f))
	takesPart := false
	switch s := &e.sharing; {
	case k.replicas == 1 || noEbb:
		return f.limit
	case k.replicas > 1:
		takesPart = recent
	case s.alone():
		if f.saturated && e.hot(f) {
			s.add(suspicious)
		}
	case s.shared():
		takesPart = recent && !coin(now, f, 8)
	default:
		takesPart = recent && e.pressed > tPressed && !(e.ebbs >= int(tCoinFrom) && coin(now, f, uint64(tCoin)))
	}
	takesPart = takesPart && tEbb > 0
	switch {
	case !takesPart && tListen == 0:
		return f.limit
	case !takesPart:
		e.stage = hushed
	case k.calm(f) && skipped(now/e.schedule.period):
	default:
		e.stage = ebbing
		return k.lowered(f)
	}
	return e.resume
}

// still is the limit without any move around the target.
func (k *seeker) still(f flow) float64 {
	if !f.saturated {
		return f.limit
	}
	to := k.target
	if c := k.ebb.ceiling; c > 0 {
		to = min(to, c)
	}
	return max(1, math.Round(to/k.used))
}

func (k *seeker) calm(f flow) bool { return k.ebb.calm(f) }

func (k *seeker) lowered(f flow) float64 {
	depth := deepEbb
	if k.calm(f) && k.ebb.sharing.shared() {
		depth = calmEbb
	}
	return max(1, math.Round(min(f.limit, 1.1*max(k.ebb.from.n, f.n))*depth))
}

// ebbed takes in a window of an ebb, and returns the next limit.
func (k *seeker) ebbed(f flow) float64 {
	e := &k.ebb
	switch e.stage {
	case hushed:
		e.stage = listening
	case listening:
		k.heard(f.point(), e.from)
		e.stage = flowing
	default:
		return k.turned(f)
	}
	return f.limit
}

func (k *seeker) heard(now, before point) {
	e := &k.ebb
	e.sharing.hear(now, before, k.variation)
	if e.sharing.alone() {
		e.ceiling, e.ebbs = 0, 0
	}
}

// turned learns from an ebb, or has it go deeper.
func (k *seeker) turned(f flow) float64 {
	e := &k.ebb
	if f.done < leastEbb && e.known || ln(e.from.n/f.n) < shortEbb {
		e.stage = flowing
		return e.resume
	}
	q := ln(f.latency/e.from.latency) / ln(f.n/e.from.n)
	calm := k.calm(f)
	if q > queueing && !calm && (e.stage < deepest || !e.known && f.n > 1.5) && (e.ebbs < int(tDeep) || f.latency > tDeepR*e.base) {
		e.stage = min(e.stage+1, deepest)
		return max(1, math.Round(min(f.limit, 1.1*f.n)*deepEbb))
	}
	e.rebase(f, k.variation, q)
	gain := thetaGain
	if calm {
		gain /= 2
	}
	e.theta = min(max(e.theta*exp(gain*(wantedQ-min(max(q, 0), 1.3))), leastTheta), mostTheta)
	needed := e.from.latency > tNeed*e.theta*e.base
	switch {
	case e.sharing.alone():
	case e.ceiling > 0 && e.over < tDrop && !needed:
		e.ceiling = 0
	case e.ceiling > 0 || needed && (e.stage > ebbing || q > queueing):
		e.ceiling = e.from.x * e.base * e.theta
	}
	if q < idling && e.ceiling > 0 {
		e.ceiling = max(e.ceiling, 2.5*e.from.n)
	}
	if debugEbb {
		println("ebb q", int(1000*q), "base", int(e.base*1e6), "theta", int(1000*e.theta), "ceiling", int(e.ceiling), "n", int(e.from.n), "n'", int(f.n), "R", int(e.from.latency*1e6), "R'", int(f.latency*1e6))
	}
	e.ebbs++
	e.known = true
	e.stage = flowing
	if e.ceiling > 0 {
		return max(1, math.Round(min(e.resume, e.ceiling/k.used)))
	}
	return e.resume
}

// rebase takes the latency of an ebb for that of the work itself, as far as it followed no queue.
func (e *ebb) rebase(f flow, variation, q float64) {
	seen := f.latency
	if seen < e.base {
		seen = min(e.base, f.surely(variation))
	} else {
		seen = toward(e.base, min(seen, 3*e.base), min(max((queueing-q)/(queueing-idling), 0), 1))
	}
	if seen > 0.8*e.base && seen < 1.3*e.base {
		seen = toward(e.base, seen, 0.5)
	}
	e.base = seen
}

// plan measures the stages of an ebb. The first half ends by the clock, for all at once.
func (k *seeker) ebbPlan() Plan {
	e := &k.ebb
	p := afresh
	p.MinSamples, p.Carried = leastDone, true
	span := max(e.from.latency, 25*(1+k.variation)/e.from.x, 0.1)
	span = min(span, max(quickSpan, 2*k.unit))
	p.MaxAge = duration(max(quickAge, 4*span, 6/e.from.x))
	settle := duration(1.5 * e.from.latency)
	switch e.stage {
	case hushed:
		p.Interval = max(settle, afresh.Interval)
	case listening:
		p.Interval = duration(span)
	default:
		p.Settle, p.Interval = settle, duration(span)
	}
	return p
}
