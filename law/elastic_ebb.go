package law

import (
	"math"
	"time"
)

// An ebb is how limiters that know nothing of each other learn what their own moves cannot
// tell them. With a share s of the work in flight on a server of elasticity e, one's own
// throughput has the elasticity 1-s(1-e): it follows one's share of a queue that all of
// them fill. So at ticks of the wall clock, which they have in common, all of them
// lower their limits together for a few latencies. What the latency does then is what
// the server does.
type ebb struct {
	told    int // replicas, as configured; 0 if not known
	stage   stage
	next    int64   // the tick, in nanoseconds of the wall clock
	reached float64 // seconds since the limit was last reached

	reference sums    // of the windows before, faded
	base      float64 // latency of the work itself, in seconds
	theta     float64 // latency that is aimed at, in units of base
	ceiling   float64 // of the concurrency; 0 for none
	over      float64 // share of windows in which the target was above it, smoothed
	ebbs      int     // since sharing was found
	from      point   // before the ebb
	resume    float64 // limit

	sharing evidence
}

// A stage is what the current window is to the tick.
type stage uint8

const (
	flowing   stage = iota // none of the below
	ebbing                 // measured under a lowered limit
	again                  // and lowered once more
	third                  // and again
	settling               // waits until the others have lowered theirs
	listening              // measured while they have
	after                  // they have raised them again
)

type point struct{ n, x, latency float64 }

type sums struct{ area, done, span float64 }

func (s *sums) add(f flow) {
	s.area = float64(s.area*keptReference) + float64(f.n*f.span)
	s.done = float64(s.done*keptReference) + float64(f.x*f.span)
	s.span = float64(s.span*keptReference) + f.span
}

func (s *sums) point() point {
	return point{s.area / s.span, s.done / s.span, s.area / s.done}
}

const (
	keptReference = 0.6

	usualTick = 8 * time.Second // and its doubles, for slower work
	hotTick   = 4 * time.Second
	ticksOf   = 6  // latencies of the base are in a tick
	ticksOfLe = 24 // least latencies are in a usual one
	hotLine   = 1.7
	tooLate   = 250 * time.Millisecond

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
func (k *seeker) hot(f flow) bool {
	e := &k.ebb
	return e.base > 0 && min(e.reference.point().latency, f.latency) > hotLine*e.base
}

// tick is the time between ticks. Those of limiters that measure differently are multiples
// of each other.
func (k *seeker) tick(f flow) int64 {
	e := &k.ebb
	tick, least := int64(usualTick), max(ticksOfLe*k.pulse.least, ticksOf*e.base)
	if k.hot(f) {
		tick, least = int64(hotTick), ticksOf*e.base
	}
	for float64(tick) < least*1e9 && tick < int64(mostPatience) {
		tick *= 2
	}
	return tick
}

// calm reports whether what is known of the server is good enough for smaller ebbs.
func (k *seeker) calm(f flow) bool {
	e := &k.ebb
	return e.ebbs >= 2 && !k.hot(f) && e.over < 0.5
}

// skipped draws from the tick alone, so that limiters skip the same ones.
func skipped(tick int64) bool { return mixed(uint64(tick))%5 < 2 }

// mixed is a hash (the finalizer of MurmurHash3).
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// base follows the latency of the work itself between ebbs.
func (e *ebb) follow(f flow, variation, elasticity float64) {
	switch {
	case e.base == 0:
		e.base = f.latency
	case f.latency < e.base:
		e.base = min(e.base, toward(e.base, f.latency*exp(math.Sqrt((0.1+variation)/f.done)), 0.3))
	case !f.saturated && elasticity > 0.7 && e.ceiling == 0:
		e.base = toward(e.base, f.latency, 0.1)
	}
}

// watchCeiling moves the ceiling between ebbs so that the latency stays near theta times the
// base. The root makes large shares shrink and small ones grow.
func (e *ebb) watchCeiling(f flow, elasticity float64) {
	if e.ceiling == 0 {
		return
	}
	if f.saturated || f.latency > e.theta*e.base && f.n > e.ceiling/2 {
		e.ceiling = min(e.ceiling, 1.3*f.n)*math.Sqrt(min(max(e.theta*e.base/f.latency, 0.6), 1.25)) + 0.25*math.Sqrt(e.ceiling)
		e.ceiling = max(e.ceiling, 0.7*f.x*e.base, 1)
	}
}

// begin starts an ebb and returns the limit for it.
func (k *seeker) beginEbb(f flow) float64 {
	e := &k.ebb
	e.from = e.reference.point()
	e.resume = f.limit
	e.stage = ebbing
	depth := deepEbb
	if k.calm(f) {
		depth = calmEbb
	}
	return max(1, math.Round(min(f.limit, 1.1*max(e.from.n, f.n))*depth))
}

// ebbed takes in the window of an ebb. It returns the next limit, and reports whether the
// ebb goes on.
func (k *seeker) ebbed(f flow) (to float64, deeper bool) {
	e := &k.ebb
	if f.done < leastEbb || ln(e.from.n/f.n) < shortEbb {
		e.stage = flowing
		return e.resume, false
	}
	q := ln(f.latency/e.from.latency) / ln(f.n/e.from.n)
	calm := k.calm(f)
	if q > queueing && !calm && e.stage < third && (e.ebbs < 2 || f.latency > 1.3*e.base) {
		e.stage++
		return max(1, math.Round(min(f.limit, 1.1*f.n)*deepEbb)), true
	}
	e.rebase(f, k.variation)
	gain := thetaGain
	if calm {
		gain /= 2
	}
	e.theta = min(max(e.theta*exp(gain*(wantedQ-min(max(q, 0), 1.3))), leastTheta), mostTheta)
	if e.stage > ebbing || q > queueing || e.ceiling > 0 {
		e.ceiling = e.from.x * e.base * e.theta
	}
	if q < idling {
		e.ceiling = max(e.ceiling, 2.5*e.from.n)
	}
	e.ebbs++
	e.stage = flowing
	return e.resume, false
}

func (e *ebb) rebase(f flow, variation float64) {
	seen := f.latency
	switch {
	case seen < e.base:
		seen = min(e.base, seen*exp(math.Sqrt((0.1+variation)/f.done)))
	default:
		seen = min(seen, 3*e.base)
	}
	if seen > 0.8*e.base && seen < 1.3*e.base {
		seen = toward(e.base, seen, 0.5)
	}
	e.base = seen
}

// ebbPlan measures under a lowered limit.
func (k *seeker) ebbPlan() Plan {
	e := &k.ebb
	p := afresh
	span := max(e.from.latency, 25*(1+k.variation)/e.from.x, 0.1)
	span = min(span, max(quickSpan, 2*k.unit))
	p.Interval = duration(span)
	p.Settle = duration(1.5 * e.from.latency)
	p.MinSamples, p.Carried = leastDone, true
	p.MaxAge = duration(max(quickAge, 4*span, 6/e.from.x))
	return p
}

// align has the window that would straddle the tick end with it.
func (e *ebb) align(p *Plan, now int64) {
	if e.stage != flowing || e.next <= now {
		return
	}
	left := time.Duration(e.next - now)
	if p.Settle+p.Interval+p.Interval/2 < left {
		return
	}
	p.Settle = min(p.Settle, left/2)
	p.Interval = left - p.Settle
	p.MinSamples, p.Carried = leastDone, true
}
