package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Windows are measured in units of the latency and by the rate at which work ends. The
// constants in seconds bound the cost of deciding if work is quick.
const (
	leastSettle = 0.01 // seconds
	leastSpan   = 0.02 // seconds
	quickSpan   = 1.0  // seconds that a window may always last
	slowSpan    = 3.0  // seconds that it may last with fewer than slowDone completions
	// firstAge is slowSpan for the first window. With 3 s, work of 4.4 s keeps 46% and not 97.
	firstAge = 10 * time.Second

	enoughDone  = 60 // completions make a good window; 40 score 0.7 points less
	slowDone    = 16 // completions that a window beyond quickSpan waits for
	leastWindow = 10 // completions without which a window stays open, unless the limit is lower

	bigMove = 0.3 // change of ln limit after which the law waits for a whole latency
	// leastSettling is the share of a latency that the law waits after the least change: after a
	// small change, work in flight and throughput still belong together. With 1, the law scores 0.2
	// less.
	leastSettling = 0.3

	burstAge     = 20 // times the elapsed time that a window waits for the rest of a burst
	mostPatience = 24 * time.Hour
)

// afresh plans separate windows before a latency is known.
var afresh = Plan{
	Interval:   duration(leastSpan),
	MinSamples: leastWindow,
	MaxSamples: math.MaxInt32, // so that each window is measured afresh
	MaxAge:     duration(slowSpan),
}

// patient plans the window after a window in which too little work ended. The new window waits for
// the age of the running work, and then for the same time again.
func (r reading) patient() Plan {
	p := afresh
	p.MinSamples, p.Carried = leastDone, true
	ended := r.ended + r.abandoned
	if ended > r.done { // so that the next window shows whether work hangs
		p.MinSamples = leastWindow
	}
	p.Interval = max(p.Interval, min(duration(r.age), mostPatience))
	enough := r.span * float64(p.MinSamples) / max(ended, 1)
	p.MaxAge = max(p.MaxAge, 2*min(duration(max(r.age, r.span, enough)), mostPatience))
	return p
}

// extended keeps the window open until more of the burst has ended.
func (r reading) extended() Plan {
	p := afresh
	p.MaxSamples = 0 // so that the window goes on
	p.MinSamples = int(r.ended + max(math.Floor(r.last/4), 1))
	elapsed := min(duration(r.span), mostPatience)
	p.Interval = elapsed / 2
	p.MaxAge = max(p.MaxAge, burstAge*elapsed)
	return p
}

// plan makes windows as short as the samples allow. The unit is the latency in which windows
// are measured.
func (r reading) plan(to, unit float64) Plan {
	rate := r.ended / r.span
	quick := max(quickSpan, 2*unit)
	span := max(min(r.latency, quick), enoughDone/rate)
	span = min(span, max(quick, min(slowDone/rate, max(slowSpan, 2*unit))))
	span = max(span, leastSpan)
	p := afresh
	p.Interval = duration(span)
	p.MaxAge = duration(max(slowSpan, 3*span, 6/rate))
	// No work that takes longer than the window begins and ends in it. A law that waited for
	// such work would never decide.
	p.Carried = r.latency > span
	if rate < leastWindow {
		p.MinSamples = leastDone
	}
	moved := math.Abs(portable.Log(to/r.limit)) / bigMove
	settle := min(max(r.latency, leastSettle), max(quickSpan, unit))
	p.Settle = duration(settle * min(max(moved, leastSettling), 1))
	return p
}

// climb plans the windows of a start, as short as possible.
func (r reading) climb(p Plan, noLoad float64) Plan {
	p.Interval = duration(max(leastSpan, min(r.latency, quickSpan)))
	p.Settle = duration(min(r.latency, noLoad) / 2)
	p.MinSamples, p.Carried = leastWindow, false
	switch {
	case r.latency <= longWork: // with 10, 300 calls wait for four slots for three latencies
		p.MinSamples = int(min(leastWindow, r.limit))
	case noLoad > quickSpan: // the work that begins now ends together
		p.Settle, p.MinSamples, p.Carried = 0, int(max(r.limit/r.weight, leastDone)), true
	}
	return p
}

// Ticks are the moments at which independent limiters probe together. They are at multiples
// of a power of two seconds that follows the no-load latency, so that the ticks of limiters
// that measure differently still meet.
type ticks struct {
	period, next int64 // nanoseconds; next is on the wall clock
	passed       int64 // since the last tick
	own          bool  // the last tick was not a common one
	rare         bool  // the last tick was one at which limiters with longer periods probe too
}

const (
	// tickPeriod is the least period. With 2 s, shared servers score 3 points less; with 8 s, the
	// worst lone system keeps 56% and not 74.
	tickPeriod = 4 * time.Second
	// noLoadsInTick is the least period in no-load latencies: a probe takes 3 to 10 of them.
	noLoadsInTick = 32
	// longProbe is the length of a probe, in seconds, above which the least period is twice as
	// long, unless the latency is too high. Without this rule, the log of docs/traces.md keeps 87%
	// of the goodput and not 93. With twice the period at any latency, the slow server of weir demo
	// keeps 44% and not 87.
	longProbe = 0.125
	// rareTick is the period of the ticks at which a doubted no-load latency gets a deeper probe.
	// Without deeper probes, shared servers score 0.6 less; with such a probe at each tick, lone
	// systems score 0.1 less.
	rareTick = 4 * tickPeriod
	// apart is how far apart the limiters of a server may act. A limiter takes part in a tick if
	// its window ends within this time after the tick, and its trial waits this long for the cuts
	// of other limiters.
	apart = 250 * time.Millisecond
	// brokenClock is the number of periods without a tick after which the wall clock counts
	// as stopped.
	brokenClock = 3
)

// due reports whether a tick is now, and finds the next tick. Without a wall clock, or with a
// stopped clock, a limiter has ticks of its own. If a probe is costly, the period is twice as long.
func (t *ticks) due(now int64, noLoad float64, costly bool) bool {
	due := t.next
	t.period = int64(tickPeriod)
	if costly {
		t.period *= 2
	}
	for float64(t.period) < noLoadsInTick*noLoad*1e9 && t.period < int64(mostPatience) {
		t.period *= 2
	}
	if due <= now || due-now > t.period {
		t.next = (now/t.period + 1) * t.period
	}
	common := now > 0 && due != 0 && due <= now && now-due <= max(int64(apart), t.period/32)
	t.own = !common && (t.passed > brokenClock*t.period || now == 0 && t.passed > t.period)
	if common || t.own {
		t.passed = 0
		t.rare = common && due%int64(rareTick) == 0 && t.period <= int64(rareTick)
	}
	return common || t.own
}

// align ends a window at the next tick if the window would last beyond the tick.
func (t *ticks) align(p Plan, now int64) Plan {
	left := time.Duration(t.next - now)
	if now == 0 || left <= 0 || p.Settle+p.Interval+p.Interval/2 < left {
		return p
	}
	p.Settle = min(p.Settle, left/2)
	p.Interval = left - p.Settle
	p.MinSamples, p.Carried = leastDone, true
	return p
}
