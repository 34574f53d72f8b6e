package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A regulator is the law's state once the limit was reached. Times are in seconds.
type regulator struct {
	noLoad    float64 // no-load latency
	known     bool    // noLoad was measured without load, or by a probe
	doubted   bool    // a deeper probe must confirm noLoad
	climbing  bool    // the limit doubles from window to window
	start     start
	tolerance float32 // target latency in no-load latencies
	target    float64 // concurrency
	used      float64 // share of a reached limit that is in flight, smoothed
	variation float64 // squared coefficient of variation of the latency, smoothed
	peak      float64 // most work in flight, decaying
	pressed   float64 // share of windows in which the limit was reached, smoothed
	stays     float64 // share of windows in which long work held the slots, smoothed
	deadline  float64 // time left to arriving work, smoothed
	dated     float64 // share of windows in which most work had a deadline, smoothed
	recent    sums
	push      pushback
	heat      heat
	ticks     ticks
	test      test
}

// A start is the progress of a regulator's first windows.
type start uint8

const (
	startMeasured start = iota
	startNew            // only this limiter knows the no-load latency
	startWaits          // the climb goes on if the latency of the first window lasts
)

const (
	// mostTolerance is the target latency, in no-load latencies, until probes have shown its cost.
	// With 1.5 lone systems score 1 point less, with 2 shared servers 2.5 less.
	mostTolerance = 1.65
	// leastTolerance is the target latency after many probes. With mostTolerance, shared servers
	// score 1.1 points less and lone systems the same.
	leastTolerance = 1.3
	// lastSlot, divided by the concurrency, is added to leastTolerance, because one more request is
	// a long queue if few requests run. Without it, harsh systems score 0.2 less.
	lastSlot = 0.7
	// followDown is the share of a lower latency that the no-load latency takes over.
	followDown = 0.2
	// nearNoLoad is the latency, in no-load latencies, up to which there is hardly a queue: a start
	// doubles the limit, the target may double too, and long work may hold the slots.
	nearNoLoad = 1.3
	// shareRise times the root of the target is added in each window. Limiters that learn together
	// add as much as one limiter with the sum of their targets would.
	shareRise = 0.25
	// pressing is the share of reached windows above which the target may fall. Without this bound,
	// 122 of 15,000 requests are refused when work becomes three times as slow.
	pressing = 0.25
	// pressedInTick is this share for a probe at a tick. With 0.05, 136 requests are refused.
	pressedInTick = 0.15
	// noQueue is the latency of the first window, in n no-load latencies, above which no queue
	// explains it: one worker serves n requests in n no-load latencies, so four limiters or more
	// would have to start together before one worker. With 1, servers that thrash keep up to 30%
	// less; with 8, all but 10 of 40 calls of 200 ms after calls of 5 ms are refused. The next
	// window must show twice this latency. Without that window, 16 limiters of a server that
	// thrashes keep 58% and not 85 in the 10 s after a pause of 1 s.
	noQueue      = 4
	peakDecay    = 10.0 // seconds
	idleHeadroom = 4    // peaks above which a limit that is not reached falls
)

func newRegulator(r reading, noLoad float64, known bool) *regulator {
	return &regulator{noLoad: noLoad, tolerance: mostTolerance, known: known, target: r.limit, used: 1, variation: 1}
}

func (k *regulator) measure(r reading) {
	if r.variation >= 0 {
		k.variation = portable.Toward(k.variation, r.variation, 0.2)
	}
	if r.saturated {
		k.used = portable.Toward(k.used, min(max(r.n/r.limit, 0.6), 1), 0.3)
	}
	k.measureDeadline(r)
	k.peak *= portable.FiniteExp(-r.span / max(peakDecay, 20*k.unit(r)))
	if r.latency <= hot*mostTolerance*k.noLoad { // the peak of an overload asks for no room
		k.peak = max(k.peak, r.peak)
	}
	if k.test.running {
		return
	}
	if r.late == 0 || r.saturated { // late work says nothing about an unused limit
		k.push.measure(r, k.noLoad)
	}
	k.recent.add(r)
	reached := 0.0
	if r.saturated && !r.bursty {
		reached = 1
	}
	k.pressed = portable.Toward(k.pressed, reached, 0.1)
	k.noLoad = min(k.noLoad, portable.Toward(k.noLoad, r.upper(max(1, k.variation)), followDown))
	was := k.start
	k.start = startMeasured
	if k.climbing {
		k.climb(r, was)
	}
}

// climb ends the climb of a start when the limit is not reached or the latency rose. If a latency
// that no queue explains lasts, it is the latency of other work: a burst of slow calls came after
// quick calls. After a pause of the server such a latency falls.
func (k *regulator) climb(r reading, was start) {
	queue, latency := r.n*k.noLoad, r.latency
	if r.limit > usualLimit { // long work ends in waves, which mislead Little's law
		latency = min(latency, max(r.sojourn, quickSpan))
	}
	switch {
	case was == startNew && r.saturated && r.latency > noQueue*queue:
		k.start = startWaits
	case was == startWaits && r.saturated && r.latency > 2*noQueue*queue:
		k.noLoad, k.known = r.upper(max(1, k.variation)), false
	case !r.saturated || latency > nearNoLoad*k.noLoad*r.doubt(k.variation):
		k.climbing, k.known = false, true
	}
}

func (k *regulator) measureDeadline(r reading) {
	has := 0.0
	if r.deadline > 0 {
		if has = 1; k.deadline == 0 {
			k.deadline = r.deadline
		}
		k.deadline *= math.Sqrt(math.Sqrt(r.deadline / k.deadline))
	}
	k.dated = portable.Toward(k.dated, has, 0.2)
}

// isReached reports whether the work needs all of the limit.
func (k *regulator) isReached() bool { return k.pressed > pressing && !k.climbing }

// unit is the latency in which windows are measured. In an overload, windows in units of the
// latency itself would last as long as the queue that they should detect.
func (k *regulator) unit(r reading) float64 { return min(r.latency, 3*k.noLoad) }

// goal is the target latency. A budget lowers it. Raising it to half of a long budget scores
// 2 points less.
func (k *regulator) goal(budget float64) float64 {
	g := float64(k.tolerance) * k.noLoad
	if budget > 0 {
		g = max(min(g, budget/2), 1.1*k.noLoad)
	}
	return g
}

// limit is the limit at which the target concurrency runs.
func (k *regulator) limit() float64 {
	limit := math.Round(k.target / k.used)
	if c := k.push.ceiling; c > 0 {
		limit = min(limit, math.Round(float64(c)))
	}
	return max(1, limit)
}

func (k *regulator) aim(target float64, r reading) {
	most := 1.2 * r.max
	if c := k.push.ceiling; c > 0 {
		most = float64(c)
	}
	k.target = min(max(target, 0.5), most)
}

func (k *regulator) plan(r reading, to float64) Plan {
	p := r.plan(to, k.unit(r))
	if k.climbing {
		p = r.climb(p, k.noLoad)
	}
	if k.push.ceiling > 0 {
		p.Interval = min(p.Interval, duration(max(leastSpan, r.latency)))
	}
	if k.push.isSearching() || k.push.rose() {
		p = hurried(p, k.push.cycle(k.noLoad))
	}
	return k.ticks.align(p, r.now)
}

// goal is the target latency. The Budget setting takes precedence over the deadlines of most
// work.
func (c *setpointController) goal() float64 {
	k := c.regulator
	switch {
	case c.Budget > 0:
		return k.goal(c.Budget.Seconds())
	case k.dated > 0.5:
		return k.goal(k.deadline)
	}
	return k.goal(0)
}

const (
	// longStay is the factor by which the latency must exceed the latency of quick work for long
	// work to count as holding the slots.
	longStay     = 2
	roomForStays = 1.1 // growth of a limit that long work fills
)

// isHeldByStays reports whether a few pieces of long work hold the slots. An overloaded
// server slows the short work too. If one request in a hundred takes 5 s and not 5 ms, this
// move keeps 99% of the goodput instead of 85.
func (c *setpointController) isHeldByStays(r reading) bool {
	return r.fresh > 0 && r.fresh < nearNoLoad*c.regulator.noLoad && r.latency > longStay*r.fresh
}

// makeRoom raises a limit that long work fills.
func (c *setpointController) makeRoom(r reading) Decision {
	k, to := c.regulator, r.limit
	if r.saturated {
		to = r.allowed(math.Ceil(to * roomForStays))
		k.aim(to*k.used, r)
	}
	why := lean(Average, r.fresh, nearNoLoad*k.noLoad, r.limit, to)
	return Decision{Limit: to, Reason: why, Next: k.plan(r, to)}
}

func (c *setpointController) isUnused(r reading) bool { return !r.saturated }

// leaveUnused keeps a limit that was not reached. A limit far above the peak falls. A limit
// close to the peak of steady bursts rises.
func (c *setpointController) leaveUnused(r reading) Decision {
	k, goal, to := c.regulator, c.goal(), r.limit
	if r.latency <= goal {
		k.heat = heat{}
	}
	switch enough := max(usualLimit, idleHeadroom*k.peak); {
	case c.part > 0 && r.latency > goal: // the other limiters lack slots that this one has
		to = min(to, c.part/k.used)
		c.part = 0
	case r.bursty && k.variation < 0.5 && r.upper(k.variation) < nearNoLoad*k.noLoad:
		to = max(to, math.Ceil(1.5*k.peak/k.used))
	case r.limit > enough && r.latency <= goal:
		to = max(usualLimit, 3*k.peak)
	}
	if to = r.allowed(math.Round(to)); to != r.limit {
		k.aim(to*k.used, r)
	}
	return Decision{Limit: to, Reason: Reason{Unused, Average, r.latency, goal}, Next: k.plan(r, to)}
}

// steer moves the target to bring the latency to the goal. Windows far below the target do not
// count. While long work holds the slots, a high latency shows no queue, and does not lower the
// target.
func (c *setpointController) steer(r reading) Decision {
	k := c.regulator
	if ratio := c.goal() / r.latency; r.n > 0.5*k.target {
		target := k.target
		switch {
		case k.climbing && k.start == startWaits:
		case k.climbing:
			target = 2 * max(target, r.n) * min(1, math.Sqrt(k.noLoad/r.latency))
		case r.latency < nearNoLoad*k.noLoad:
			target *= min(2, ratio)
		case ratio >= 1:
			target *= math.Sqrt(ratio)
		case k.pressed > pressing && k.stays < pressing:
			target = min(target, max(target*math.Sqrt(ratio), 0.5*r.n))
		}
		k.aim(target+float64(shareRise*math.Sqrt(target/c.others())), r)
	}
	return c.steady(r)
}

// steady keeps the target.
func (c *setpointController) steady(r reading) Decision {
	k := c.regulator
	to := r.allowed(k.limit())
	why := lean(Average, r.latency, c.goal(), r.limit, to)
	if k.push.lowered && to < r.limit {
		why = Reason{Above, Pushback, r.marked, float64(k.push.floor)}
	}
	return Decision{Limit: to, Reason: why, Next: k.plan(r, to)}
}

// Heat distinguishes a queue from slower work if the latency is far above the goal: it checks
// whether the latency falls with the concurrency.
type heat struct {
	n, r    float64 // before the cut
	target  float64
	windows uint16 // hot windows in a row, at most 3
	slower  bool   // the cut did not help
}

const (
	// hot is the factor above the target latency, or above the latency of the first window in the
	// first probe, that is not due to chance. With 1.3 in the first probe, one start of 30 inside
	// an overload takes 8 s.
	hot = 1.5
	// helps is the elasticity of the latency below which a cut did not help, measured once the
	// concurrency is below lowEnough of its value before the cut.
	helps     = 0.3
	lowEnough = 0.75
)

// isHolding reports whether to keep the target: in the first hot window, and after a cut that
// did not help.
func (c *setpointController) isHolding(r reading) bool {
	k, goal := c.regulator, c.goal()
	h := &k.heat
	switch {
	case r.latency < goal:
		*h = heat{}
	case r.latency <= hot*goal:
		h.windows = 0
	default:
		h.windows = min(h.windows+1, 3)
		h.judge(r, k)
		return h.windows == 1 || h.slower
	}
	return h.slower
}

func (h *heat) judge(r reading, k *regulator) {
	switch {
	case h.windows == 1:
		return
	case h.windows > 2 && r.n >= lowEnough*h.n:
		return
	case h.windows > 2 && portable.Log(h.r/r.latency) < helps*portable.Log(h.n/r.n):
		h.slower, k.target = true, h.target
		return
	}
	h.n, h.r, h.target = r.n, r.latency, k.target
}

// A point is a limiter's place on the curve.
type point struct{ n, x, latency float64 }

// Sums add up the measurements of windows, faded from one to the next.
type sums struct{ area, work, span float64 }

func (s *sums) add(r reading) {
	const kept = 0.6
	s.area = float64(s.area*kept) + float64(r.latency*r.x*r.span)
	s.work = float64(s.work*kept) + float64(r.x*r.span)
	s.span = float64(s.span*kept) + r.span
}

func (s *sums) point() point { return point{s.area / s.span, s.work / s.span, s.area / s.work} }
