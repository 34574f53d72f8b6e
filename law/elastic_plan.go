package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Windows are measured in units of the latency and by the rate at which work ends. The constants in
// seconds bound the cost of deciding where work is quick.
const (
	leastSettle = 0.01 // seconds
	leastSpan   = 0.02 // seconds
	quickSpan   = 1.0  // seconds that a window may always last, and
	slowSpan    = 3.0  // where fewer than slowDone end in that time
	quickAge    = 3.0  // seconds in which a window may always wait for samples

	enoughDone  = 60 // completions make a good window; 40 score 0.7 points less
	slowDone    = 16 // completions that a window beyond quickSpan waits for
	leastWindow = 10 // completions without which a window stays open

	bigMove = 0.3 // a change of ln limit after which all of a latency has to settle
	// leastSettling is the share of it after the least change: after a small one,
	// work in flight and throughput still belong together. Scores 0.2 more than 1.
	leastSettling = 0.3
)

// afresh plans windows of their own before anything is known.
var afresh = Plan{
	Interval:   duration(leastSpan),
	MinSamples: leastWindow,
	MaxSamples: math.MaxInt32, // so that each window is measured afresh
	MaxAge:     duration(quickAge),
}

// A kept plan is one of those here in fewer bytes: they all have the MaxSamples of afresh.
type kept struct {
	settle, interval, maxAge time.Duration
	minSamples               int32
	carried                  bool
}

func keep(p Plan) kept {
	return kept{p.Settle, p.Interval, p.MaxAge, int32(p.MinSamples), p.Carried}
}

func (k kept) plan() Plan {
	p := afresh
	p.Settle, p.Interval, p.MaxAge = k.settle, k.interval, k.maxAge
	p.MinSamples, p.Carried = int(k.minSamples), k.carried
	return p
}

// patient plans the window after one in which too little ended: it waits for as long as
// what runs has taken so far, and then that again.
func patient(w Window) Plan {
	p := afresh
	p.MinSamples, p.Carried = leastDone, true
	oldest := min(max(w.Age, w.Elapsed), mostPatience)
	p.Interval = max(p.Interval, min(w.Age, mostPatience))
	p.MaxAge = max(p.MaxAge, 2*oldest)
	return p
}

const mostPatience = 24 * time.Hour

const (
	// burstRise is the peak, in units of the work in flight at the beginning, from which a
	// window saw a burst reach an idle server.
	burstRise = 4
	// burstTail is for how many mean latencies a window waits for the rest of a burst.
	burstTail = 3
	// burstAge is the same for what never ends, in units of what has passed.
	burstAge = 20
)

// unfinished reports whether most of a burst that reached an idle server still runs. What ended so
// far is its quick part. Fan-outs of 60 calls, of which half take ten times as long as the others,
// kept 25% of their calls when the limit followed the quick half, and keep 64% or more now.
func unfinished(w Window) bool {
	ended := w.Completed() + w.Carried + w.CarriedFailed
	return burstRise*w.First < w.Peak && w.Last >= ended && w.Age < burstTail*w.Mean
}

// extended keeps the window open until more of the burst has ended.
func (p Plan) extended(w Window) Plan {
	p.MaxSamples = 0 // measured on, not afresh
	p.MinSamples = w.Completed() + max(w.Last/4, 1)
	elapsed := min(w.Elapsed, mostPatience)
	p.Interval = elapsed / 2
	p.MaxAge = max(p.MaxAge, burstAge*elapsed)
	return p
}

// plan makes windows as short as the samples allow. The unit is the latency that windows are
// measured in.
func (f flow) plan(from, to, unit float64) Plan {
	rate := f.ended / f.span
	quick := max(quickSpan, min(2*f.latency, 2*unit))
	span := max(min(f.latency, quick), enoughDone/rate)
	span = min(span, max(quick, min(slowDone/rate, max(slowSpan, 2*unit))))
	span = max(span, leastSpan)
	p := afresh
	p.Interval = duration(span)
	p.MaxAge = duration(max(quickAge, 3*span, 6/rate))
	// Of work that takes longer than the window none begins and ends in it, and
	// a law that waited for some decided no more: 59 became 82 at low-rate,
	// 71 became 92 when told the budget. Where work is quicker, a window is
	// better off waiting: always carried scores the same on random systems,
	// and 450 for 457 in the worst start inside an overload.
	p.Carried = f.latency > span
	if rate < leastWindow {
		p.MinSamples = leastDone
	}
	moved := math.Abs(portable.Log(to/from)) / bigMove
	settle := min(max(f.latency, leastSettle), max(quickSpan, unit))
	p.Settle = duration(settle * min(max(moved, leastSettling), 1))
	return p
}
