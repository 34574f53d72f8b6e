package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// An ebb is how limiters that know nothing of each other learn what their own moves cannot
// tell them. With a share s of the work in flight on a server of elasticity e, one's own
// throughput has the elasticity 1-s(1-e): it follows one's share of a queue that all of
// them fill. So at ticks of the wall clock all of them lower their limits together for a
// few latencies. What the latency does then is what the server does.
//
// An ebb finds the base, and where it finds a queue, a ceiling of the concurrency that holds
// the latency at theta times the base.
type ebb struct {
	stage   stage
	from    point   // before it
	resume  float64 // limit after it
	ebbs    int     // so far
	base    base
	theta   float64
	ceiling float64 // 0 for none
	over    float64 // share of windows in which the target was above it, smoothed

	schedule schedule
	sharing  evidence
	reached  float64 // seconds since the limit was last reached
	pressed  float64 // share of windows in which it was, smoothed
}

// A stage is where in an ebb the current window is.
type stage uint8

const (
	flowing   stage = iota // none of the below
	ebbing                 // the limit is lowered
	deeper                 // and once more
	deepest                // and again
	hushed                 // the limit is kept: until others have lowered theirs
	listening              // and while they have
)

const (
	deepEbb    = 0.6  // of the concurrency; ebbs to 0.75 alone score 53 instead of 95
	calmEbb    = 0.75 // where the base is known and the ceiling is not in the way
	shortEbb   = 0.1  // an ebb of ln n by less teaches nothing
	leastEbb   = 10.0 // completions, without which it is thrown away
	goodEbb    = 25.0 // completions of constant work in an ebb, and twice as many of exponential
	doubtful   = 1.8  // latency, in bases, at which an ebb goes deeper
	firstTheta = 1.4
	leastTheta = 1.2
	mostTheta  = 3.0
	thetaGain  = 0.4
	wantedQ    = 0.7 // elasticity of the latency that theta is moved to

	recently     = 10.0 // seconds, or a tick, in which a limiter that takes part reached its limit
	leastPressed = 0.15 // share of windows; without, 72 of 15,000 were refused in the slowdown gate
	inTheWay     = 0.1  // share of windows in which a ceiling that matters caps the target
	listens      = 6    // one tick in so many is for listening, after the first three
)

// calm reports whether what is known of the server is good enough for smaller ebbs.
func (e *ebb) calm(f flow) bool { return e.ebbs >= 2 && !e.base.hot(f) && e.over < 0.5 }

// hold moves the ceiling between ebbs so that the latency stays near theta times the
// base. The root has large shares shrink and small ones grow.
func (e *ebb) hold(f flow) {
	goal := float64(e.theta * e.base.latency)
	if e.ceiling == 0 || !f.saturated && (f.latency <= goal || f.n <= e.ceiling/2) {
		return
	}
	step := math.Sqrt(min(max(goal/f.latency, 0.6), 1.25))
	e.ceiling = float64(min(e.ceiling, 1.3*f.n)*step) + float64(0.25*math.Sqrt(e.ceiling))
	e.ceiling = max(e.ceiling, 0.7*f.x*e.base.latency, 1)
}

// caps reports whether the target is above the ceiling.
func (e *ebb) caps(target float64) bool {
	if e.ceiling == 0 {
		return false
	}
	over := 0.0
	if target > e.ceiling {
		over = 1
	}
	e.over = portable.Toward(e.over, over, 0.2)
	return over > 0
}

// ticked reports whether a tick is now.
func (k *seeker) ticked(f flow, now int64) bool {
	e := &k.ebb
	e.reached += f.span
	reached := 0.0
	if f.saturated && !f.bursty {
		e.reached, reached = 0, 1
	}
	e.pressed = portable.Toward(e.pressed, reached, 0.1)
	if now == 0 || e.stage != flowing {
		return false
	}
	usual, seconds := usualTick, max(leastsInTick*k.pulse.least, basesInTick*e.base.latency)
	if e.base.hot(f) {
		usual, seconds = hotTick, basesInTick*e.base.latency
	}
	return e.schedule.due(now, usual, max(seconds, latenciesInTick*min(f.latency, 4*e.base.latency)))
}

// tick answers a tick with the limit: lowered, or kept to listen.
func (k *seeker) tick(f flow, now int64, replicas int) float64 {
	e := &k.ebb
	e.from, e.resume = e.base.reference.point(), k.still(f)
	switch {
	case replicas == 1:
	case !k.takesPart(f, now, replicas):
		e.stage = hushed
	case !e.skips(f, now/e.schedule.period):
		e.stage = ebbing
		return k.lowered(f)
	}
	return e.resume
}

// free reports whether an ebb has little to tell: the ceiling is not in the way, and nothing was
// heard of others.
func (e *ebb) free() bool { return e.over < inTheWay && e.sharing.odds < 0 }

// skips draws the ticks to pass over from the tick alone, so that limiters skip the same ones: two
// of five where the server is known well, and three of four where the ceiling is not in the way.
func (e *ebb) skips(f flow, tick int64) bool {
	switch {
	case !e.calm(f):
		return false
	case e.free():
		return tick%4 != 0
	}
	return mixed(uint64(tick))%5 < 2
}

func (k *seeker) takesPart(f flow, now int64, replicas int) bool {
	e := &k.ebb
	recent := e.reached < max(recently, float64(e.schedule.period)/1e9)
	enough := !e.base.known || leastEbb*(1+k.variation) < k.ebbSpan()*e.from.x
	switch {
	case !recent || !enough:
		return false
	case replicas > 1:
		return true
	case e.sharing.shared():
		return !coin(now, f, listens)
	case e.sharing.alone():
		if f.saturated && e.base.hot(f) {
			e.sharing.add(suspicious)
		}
		return false
	}
	return e.pressed > leastPressed && (e.ebbs < 3 || !coin(now, f, listens))
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

// lowered is the limit of an ebb.
func (k *seeker) lowered(f flow) float64 {
	depth := deepEbb
	if e := &k.ebb; e.calm(f) && (e.sharing.shared() || e.free()) {
		depth = calmEbb
	}
	return max(1, math.Round(min(f.limit, 1.1*max(k.ebb.from.n, f.n))*depth))
}

// ebbed takes in a window after a tick and returns the next limit.
func (k *seeker) ebbed(f flow) float64 {
	e := &k.ebb
	switch e.stage {
	case hushed:
		e.stage = listening
		return f.limit
	case listening:
		e.stage = flowing
		e.sharing.hear(f.point(), e.from, k.variation)
		if e.sharing.alone() {
			e.ceiling, e.ebbs = 0, 0
		}
		return f.limit
	}
	depth := portable.Log(e.from.n / f.n)
	if f.done < leastEbb && e.base.known || depth < shortEbb {
		e.stage = flowing
		return e.resume
	}
	queue := portable.Log(e.from.latency/f.latency) / depth
	if k.deeper(f, queue) {
		e.stage = min(e.stage+1, deepest)
		return max(1, math.Round(min(f.limit, 1.1*f.n)*deepEbb))
	}
	return k.turned(f, queue)
}

// deeper reports whether there is a queue still, and doubt about the base.
func (k *seeker) deeper(f flow, queue float64) bool {
	e := &k.ebb
	if queue <= queueing || e.calm(f) {
		return false
	}
	if !e.base.known {
		return e.stage < deepest || f.n > 1.5
	}
	quick := 8*float64(k.settling()+duration(k.ebbSpan())) < float64(e.schedule.period)
	return quick && e.stage < deepest && (e.ebbs < 2 || f.latency > doubtful*e.base.latency)
}

// turned ends an ebb and learns from it.
func (k *seeker) turned(f flow, queue float64) float64 {
	e := &k.ebb
	e.base.rebase(f, k.variation, queue)
	gain := thetaGain
	if e.calm(f) {
		gain /= 2
	}
	e.theta = min(max(e.theta*portable.FiniteExp(gain*(wantedQ-min(max(queue, 0), 1.3))), leastTheta), mostTheta)
	if !e.sharing.alone() && (e.stage > ebbing || queue > queueing || e.ceiling > 0) {
		e.ceiling = e.from.x * e.base.latency * e.theta
	}
	if queue < idling && e.ceiling > 0 {
		e.ceiling = max(e.ceiling, 2.5*e.from.n)
	}
	e.ebbs++
	e.stage = flowing
	if e.ceiling > 0 {
		return max(1, math.Round(min(e.resume, e.ceiling/k.used)))
	}
	return e.resume
}

// ebbSpan is how long an ebb is measured, in seconds.
func (k *seeker) ebbSpan() float64 {
	from := k.ebb.from
	span := max(from.latency, goodEbb*(1+k.variation)/from.x, 0.1)
	return min(span, max(quickSpan, 2*k.unit))
}

// settling is how long it takes until the work in flight is what a lowered limit lets in. Less
// for a latency far above the base costs eight replicas 2 points.
func (k *seeker) settling() time.Duration { return duration(1.5 * k.ebb.from.latency) }

// ebbPlan measures the stages of an ebb, once what was in flight has drained.
func (k *seeker) ebbPlan() Plan {
	e := &k.ebb
	p, span := afresh, k.ebbSpan()
	p.MinSamples, p.Carried = leastDone, true
	p.MaxAge = duration(max(quickAge, 4*span, 6/e.from.x))
	p.Interval = duration(span)
	switch e.stage {
	case hushed:
		p.Interval = max(k.settling(), afresh.Interval)
		p.MaxAge = max(p.MaxAge, duration(6*e.from.latency))
	case listening:
	default:
		p.Settle = k.settling()
	}
	return p
}
