package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A test is a probe: the limit is lowered for a few latencies, to see the latency without a queue.
type test struct {
	running    bool
	second     bool    // this window looks at the same limit once more
	from, last point   // before the probe, and before this step
	rate       float64 // expected rate of completions
	least      float64 // least latency of this probe
	area, done float64 // sum of latencies, and completions, at the last limit
}

const (
	firstDepth = 0.5 // share of the concurrency left by a step while the no-load latency is unknown
	// queueing is the elasticity of the latency above which there is still a queue. With 0.3,
	// random systems score 0.4 points less.
	queueing     = 0.5
	leastDepth   = 0.1  // a smaller step of ln n says nothing
	goodDone     = 25   // completions of constant work in a probe, twice as many of exponential work
	longWork     = 0.25 // seconds of latency from which a start looks before it climbs, up to quickSpan
	probeSettles = 1.5  // latencies until a step is measured
)

// isTick reports whether to probe now. While long work holds the slots, a probe would wait for its
// end, and then see the short work only: with such probes, work of 2 ms of which three in a hundred
// take 2 s keeps 39% in TestHazards and not 89.
func (c *setpointController) isTick(r reading) bool {
	k := c.regulator
	from := k.recent.point()
	// Neither the share of refused work nor a server that became slow may wait long for a probe.
	costly := c.probeSpan(from) > longProbe && k.push.ceiling == 0 && min(from.latency, r.latency) < hot*c.goal()
	if !k.ticks.due(r.now, k.noLoad, costly) {
		return false
	}
	k.heat = heat{}
	if r.limit <= r.min && from.latency > k.noLoad { // no probe can go lower
		k.raise(from.latency)
		return false
	}
	// A ceiling keeps the queue short. A low floor may be due to chance.
	needed := k.push.ceiling == 0 || k.push.floor > tolerable || from.latency > c.goal()
	return needed && k.pressed > pressedInTick && k.stays < pressing && r.limit > 1
}

// isDoubtful reports whether a limiter that has just started may see only the latency of an
// overload. A limiter of work of a second or more first climbs to the usual limit, because four
// slots of such work show little. Without that climb, the language model of docs/results/traces.md
// keeps 89% instead of 95.
func (c *setpointController) isDoubtful(r reading) bool {
	k := c.regulator
	lasting := k.recent.span > 0 && r.saturated && !r.bursty && 2*r.last >= r.limit
	climbs := k.climbing && (r.latency <= longWork || r.latency > quickSpan && 2*r.limit <= float64(c.usual))
	return !k.known && lasting && !climbs && r.limit > 1
}

// lower begins a probe.
func (c *setpointController) lower(r reading) Decision {
	from := c.regulator.recent.point()
	c.regulator.test = test{running: true, from: from, last: from, least: math.Inf(1)}
	return c.step(r, max(from.n, r.n))
}

// step lowers the limit below the work in flight.
func (c *setpointController) step(r reading, n float64) Decision {
	k, depth := c.regulator, firstDepth
	t := &k.test
	if k.known {
		depth = min(max(0.85*k.noLoad/t.last.latency, 0.3), 0.6)
	}
	to := max(1, math.Round(min(r.limit, 1.1*n)*depth))
	t.rate = t.last.x * min(1, to/t.last.n)
	return c.probing(r, to)
}

func (c *setpointController) probing(r reading, to float64) Decision {
	k := c.regulator
	return Decision{Limit: r.allowed(to), Reason: Reason{Probing, Average, r.latency, k.noLoad}, Next: c.probePlan()}
}

func (c *setpointController) isProbing(reading) bool { return c.regulator.test.running }

// probe answers a window of a probe: it lowers the limit again, repeats the window, or learns and
// ends the probe.
func (c *setpointController) probe(r reading) Decision {
	k := c.regulator
	t := &k.test
	depth := portable.Log(t.last.n / r.n)
	lowest := r.n <= 1 || r.limit <= r.min
	queue := 0.0
	if depth >= leastDepth {
		queue = portable.Log(t.last.latency/r.latency) / depth
	}
	if little := r.done < c.leastInProbe() && k.known; little || depth < leastDepth && !t.second {
		if lowest || little && queue <= queueing { // little work shows at least so much
			k.raise(min(t.least, r.latency/r.doubt(k.variation)))
		}
		t.running = false
		return c.steady(r)
	}
	t.least = min(t.least, r.latency)
	k.push.probed(r)
	if !t.second && queue > queueing && !k.isConfirmed(r) && !lowest {
		t.last, t.area, t.done = point{r.n, r.x, r.latency}, 0, 0
		return c.step(r, r.n)
	}
	t.area, t.done = t.area+float64(r.latency*r.done), t.done+r.done
	empty := queue <= queueing || lowest || t.second
	if empty && !t.second && k.surprised(r) {
		t.second = true
		d := c.probing(r, r.limit)
		d.Next.Settle = 0
		return d
	}
	k.learn(r, empty)
	return c.finish(r)
}

// isConfirmed reports whether the window confirms the no-load latency, so that the probe needs no
// deeper step.
func (k *regulator) isConfirmed(r reading) bool {
	doubt := r.doubt(k.variation)
	near := k.known && r.latency*doubt > 0.85*k.noLoad && r.latency/doubt < 1.25*k.noLoad
	return near && (!k.doubted || !k.ticks.rare)
}

// surprised reports whether to measure a latency without a queue twice: a pause may be its cause.
func (k *regulator) surprised(r reading) bool {
	if !k.known {
		return !k.climbing
	}
	return r.latency > 1.25*k.noLoad
}

// learn updates the no-load latency from a probe. empty means that the probe ended without a queue.
func (k *regulator) learn(r reading, empty bool) {
	t := &k.test
	k.doubted = k.doubted && !k.ticks.rare
	k.judgeTarget(r)
	switch {
	case !k.known && empty:
		k.noLoad, k.known, k.doubted = min(t.area/t.done, hot*k.noLoad), true, true
	case t.least < k.noLoad:
		k.noLoad = min(k.noLoad, t.least*r.doubt(k.variation))
	case empty:
		k.raise(t.least)
	}
}

// judgeTarget lowers the tolerance if the probe lowered the latency, which shows that there was a
// queue. The more work the probe measured, the more the tolerance falls. It rises again if there
// was no queue, or if the no-load latency is in doubt.
func (k *regulator) judgeTarget(r reading) {
	t, to := &k.test, mostTolerance
	queued := k.known && t.from.n > r.n && portable.Log(t.from.latency/t.least) > helps*portable.Log(t.from.n/r.n)
	if queued && !k.doubted {
		to = min(leastTolerance+lastSlot/t.from.n, mostTolerance)
	}
	k.tolerance = float32(portable.Toward(float64(k.tolerance), to, min(t.done/enoughDone, 1)))
}

// raise raises the no-load latency. The queue of limiters that did not probe raises it too, so a
// large rise is doubted. Without common ticks replicas measure their own share of the queue, so the
// rise is small: a rise by 4 costs shared servers 9 points more.
func (k *regulator) raise(to float64) {
	if k.ticks.own {
		to = min(to, nearNoLoad*k.noLoad)
	}
	if to > k.noLoad {
		k.tolerance = (k.tolerance + mostTolerance) / 2
	}
	k.doubted = k.doubted || to > hot*k.noLoad
	k.noLoad = max(k.noLoad, to)
}

// finish ends a probe. It sets the target to the concurrency at the target latency, if that
// is a rise, or the latency was too high.
func (c *setpointController) finish(r reading) Decision {
	k, goal := c.regulator, c.goal()
	from := k.test.from
	k.test.running = false
	target := min(max(from.x*goal, 0.5*from.n), 2*from.n)
	if target > k.target || from.latency > goal {
		k.aim(target, r)
	}
	to := r.allowed(k.limit())
	return Decision{Limit: to, Reason: Reason{Rebased, NoLoad, k.noLoad, k.noLoad}, Next: k.plan(r, to)}
}

// leastInProbe is the number of completions that a probe needs if the no-load latency is known.
func (c *setpointController) leastInProbe() float64 {
	return max(leastWindow/c.others(), leastDone)
}

// probeSpan is how long a probe is measured, in seconds. Limiters that learn together measure the
// latency together.
func (c *setpointController) probeSpan(p point) float64 {
	k := c.regulator
	good, least := max(goodDone/c.others(), leastWindow), 0.1
	if !k.known {
		good, least = leastWindow/2, leastSpan
	}
	span := max(p.latency, good*(1+k.variation)/p.x, least)
	return min(span, max(quickSpan, 2*min(p.latency, 3*k.noLoad)))
}

// probePlan measures a step once the work in flight is down to the lowered limit. Settling for less
// than 1.5 latencies costs eight replicas 2 points. After a downstream hung, the latency is as long
// as the hang: without the bound of half a tick, 86% of the goodput comes back after 30 s of it,
// and not 100.
func (c *setpointController) probePlan() Plan {
	k := c.regulator
	last := k.test.last
	last.x = k.test.rate
	p, span := afresh, c.probeSpan(last)
	p.Carried = true
	if !k.known {
		p.MinSamples = leastDone
	}
	p.Interval = duration(span)
	p.MaxAge = duration(max(slowSpan, 4*span, 6/k.test.last.x))
	p.Settle = duration(probeSettles * min(last.latency, max(quickSpan, noLoadsInTick/2*k.noLoad)))
	return p
}
