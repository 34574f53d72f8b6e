package law

import (
	"math"
	"time"
)

// An elasticController costs little until the limiter first saturates.
type elasticController struct {
	Elastic
	seeker *seeker
}

// Retune takes new settings and keeps all that was learned.
func (c *elasticController) Retune(l Law) bool { return retuned(&c.Elastic, l) }

func (c *elasticController) Next(w Window) Decision {
	limit := within(float64(w.Limit), w)
	d := Decision{Limit: limit, Next: afresh}
	f, ok := flowOf(w)
	switch {
	case failing(w, leastWindow) && f.done == 0:
		to, why := halved(w)
		d.Limit, d.Reason = whole(within(to, w)), why
		return d
	case !ok && w.Elapsed > 0:
		d.Reason, d.Next.Carried = tooFew(w, leastDone), true
		return d
	case !ok:
		return d
	}
	if c.seeker == nil {
		if !f.saturated { // nothing is known against a higher limit
			d.Reason, d.Next.MinSamples = Reason{Unused, Elasticity, 1, price}, enoughDone
			return d
		}
		c.seeker = newSeeker(w)
	}
	to, why := c.seeker.next(w, f, c.Budget.Seconds())
	d.Limit, d.Reason = whole(within(to, w)), why
	d.Next = f.plan(limit, d.Limit)
	return d
}

// A flow is what a window says of the curve, in seconds.
type flow struct {
	span       float64 // measured
	done       float64 // work that succeeded
	n, x       float64 // work in flight and throughput
	latency    float64 // n / x
	saturated  bool    // work was held back
	filling    bool    // work in flight rose meanwhile
	flooding   bool    // it rose so much that the window is no point on the curve
	limit, max float64
}

const (
	// leastDone is how many completions make a window.
	leastDone = 2
	// heldBack is the share of arrivals beyond which the limit counts as reached;
	// a few refusals are bursts.
	heldBack = 0.01
)

func flowOf(w Window) (flow, bool) {
	f := flow{span: w.Elapsed.Seconds(), done: succeeded(w), limit: float64(w.Limit), max: float64(w.Max)}
	if f.span <= 0 || w.Completed() < 0 || f.done < leastDone {
		return f, false
	}
	f.n = w.InFlight
	if !(f.n >= 0 && f.n <= math.MaxInt32) {
		f.n = f.limit
	}
	f.n = max(f.n, 0.5)
	f.x = f.done / f.span
	f.latency = f.n / f.x
	f.saturated = float64(w.Refused+w.Waited) > heldBack*(f.done+float64(w.Failures+w.Timeouts+w.Refused))
	f.filling = float64(w.Last) > float64(1.15*float64(w.First))+3
	f.flooding = float64(w.Last) > float64(1.5*float64(w.First))+5
	return f, true
}

// succeeded counts the work that succeeded in the window, whenever it started.
func succeeded(w Window) float64 { return float64(w.Samples + w.Carried) }

// How windows are measured. Below these times, and above them, the law is not
// unchanged by the unit of time: it is meant for work from 10 ms to some seconds.
const (
	leastSettle = 0.01 // seconds
	mostSettle  = 1.0
	leastSpan   = 0.02
	mostSpan    = 1.0 // and 3 where there is less than one completion in 62 ms
	slowSpan    = 3.0

	enoughDone  = 60 // completions make a good window; 40 score 0.7 points less
	slowDone    = 16 // completions that a window beyond mostSpan waits for
	leastWindow = 10 // completions without which a window stays open

	bigMove = 0.3 // a change of ln limit after which all of a latency has to settle
	// leastSettling is the share of it after the least change: after a small one,
	// work in flight and throughput still belong together. Scores 0.2 more than 1.
	leastSettling = 0.3
)

// afresh plans windows of their own before anything is known.
var afresh = Plan{
	Interval:   20 * time.Millisecond,
	MinSamples: leastWindow,
	MaxSamples: math.MaxInt32,
	MaxAge:     3 * time.Second,
}

// plan makes windows as short as the samples allow.
func (f flow) plan(from, to float64) Plan {
	span := max(min(f.latency, mostSpan), enoughDone/f.x)
	span = min(span, min(max(slowDone/f.x, mostSpan), slowSpan))
	span = max(span, leastSpan)
	p := Plan{
		Interval:   duration(span),
		MinSamples: leastWindow,
		MaxSamples: math.MaxInt32, // so that each window is measured afresh
		MaxAge:     duration(max(slowSpan, 3*span)),
		// Of work that takes longer than the window none begins and ends in it, and
		// a law that waited for some decided no more: 59 became 82 at low-rate,
		// 71 became 92 when told the budget. Where work is quicker, a window is
		// better off waiting: always carried scores the same on random systems,
		// and 450 for 457 in the worst start inside an overload.
		Carried: f.latency > span,
	}
	if f.x < leastWindow {
		p.MinSamples = leastDone
	}
	moved := math.Abs(ln(to/from)) / bigMove
	settle := min(max(f.latency, leastSettle), mostSettle)
	p.Settle = duration(settle * min(max(moved, leastSettling), 1))
	return p
}
