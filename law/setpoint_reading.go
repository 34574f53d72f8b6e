package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// A reading is the law's view of a window: times in seconds, work by its weight.
type reading struct {
	limit, min, max float64
	now             int64 // nanoseconds of the wall clock, 0 if unknown
	span            float64
	done, ended     float64 // work that succeeded, and all work that ended
	n, x, latency   float64 // the point on the server's curve
	variation       float64 // squared coefficient of variation, below 0 if unknown
	peak, last      float64 // work in flight, at most and at the end
	age             float64 // of the oldest work in flight
	failed          float64 // share of the work that ended
	overloaded      float64 // work that the downstream refused
	late            float64 // work whose answer came too late
	marked          float64 // share of the refused and the late work
	deadline        float64 // time left to most work when it arrived, 0 without a deadline
	fresh           float64 // mean latency of work that began and ended here, 0 if not representative
	abandoned       float64 // work whose caller left before it ended
	stay            float64 // mean time in flight of the ended and abandoned work, by Little's law
	saturated       bool    // the limit held work back
	bursty          bool    // work came in bursts that left the server idle between
	filling         bool    // work in flight rose during the window
	asked           bool    // this is not the first call, which measured nothing
	sojourn         float64 // mean latency of all work that succeeded
	weight          float64 // mean weight of that work, at least 1
	unfinished      bool    // most of a burst that reached an idle server still runs
}

const (
	// leastDone is the number of completions that make a point on the curve.
	leastDone = 2
	// heldBack is the share of arrivals beyond which the limit counts as reached.
	heldBack = 0.01
	// burstRise is the peak, in units of the work in flight at the beginning, that shows a
	// burst reaching an idle server.
	burstRise = 4
	// burstTail is the number of mean latencies that a window waits for the rest of a burst.
	// Without this wait, 60 calls of which half take ten times as long as the others keep 38%
	// instead of 96%.
	burstTail = 3
)

func readingOf(w Window) reading {
	r := reading{
		limit: within(float64(w.Limit), w), min: float64(w.Min), max: float64(w.Max), now: wallClock(w),
		span:  w.Elapsed.Seconds(),
		done:  float64(w.Samples + w.Carried),
		ended: float64(w.Completed() + w.Carried + w.CarriedFailed),
		asked: w.MinSamples > 0, variation: -1, peak: float64(w.Peak), last: float64(w.Last), age: w.Age.Seconds(), failed: w.ErrorRate(),
		overloaded: float64(w.Overloaded), late: float64(w.Late),
		abandoned: float64(w.Abandoned),
		deadline:  w.Deadline.Seconds(),
	}
	r.saturated = float64(w.Refused+w.Waited) > heldBack*(r.ended+float64(w.Refused))
	r.marked = min(w.OverloadRate()+r.late/max(r.ended, 1), 1)
	r.stay = finite(w.InFlight, 0) * r.span / max(r.ended+r.abandoned, 1)
	r.filling = float64(w.Last) > float64(1.15*float64(w.First))+3
	r.unfinished = burstRise*w.First < w.Peak && float64(w.Last) >= r.ended && w.Age < burstTail*w.Mean
	if r.span > 0 && r.done >= leastDone && r.ended >= r.done && w.Samples >= 0 && w.Carried >= 0 {
		r.locate(w)
	}
	return r
}

// isPoint reports whether enough work ended for a point on the curve.
func (r reading) isPoint() bool { return r.latency > 0 }

// locate finds the point. The concurrency is not the mean over time: a burst that leaves the
// server idle for nine tenths of the time ran at its own height.
func (r *reading) locate(w Window) {
	inFlight := finite(w.InFlight, r.limit)
	mean := max(inFlight, 0.5)
	r.n = max(mean, finite(w.Crowd, mean))
	r.bursty = r.n > 1.5*mean
	r.weight = max(float64(w.Weight)/r.done, 1)
	r.latency = max(inFlight*r.span/max(r.done, float64(w.Weight)), 1e-9)
	if r.sojourn = w.Sojourn.Seconds(); r.sojourn > 0 {
		r.latency = math.Sqrt(r.latency * r.sojourn)
	}
	r.x = r.n / r.latency
	if mean := w.Mean.Seconds(); mean > 0 {
		if flood := float64(w.Last) > float64(1.5*float64(w.First))+5; r.ended == r.done && 4*w.Carried <= w.Samples && !flood {
			r.fresh = mean
		}
		cv := w.Deviation.Seconds() / mean
		r.variation = min(cv*cv, 4)
	}
}

// finite returns v if it can be a concurrency.
func finite(v, otherwise float64) float64 {
	if v >= 0 && v <= math.MaxInt32 {
		return v
	}
	return otherwise
}

// wallClock is the time at which the window was closed, in nanoseconds, 0 if unknown.
func wallClock(w Window) int64 {
	if w.Closed.IsZero() || w.Closed.Before(time.Unix(0, 0)) {
		return 0
	}
	return w.Closed.UnixNano()
}

// doubt is one standard error of the latency, as a factor. Completions depend on one another, so
// that even constant work has a variation of 0.1.
func (r reading) doubt(variation float64) float64 {
	return portable.FiniteExp(math.Sqrt((0.1 + variation) / r.done))
}

// upper is the latency plus one standard error: it is not too low by chance.
func (r reading) upper(variation float64) float64 { return r.latency * r.doubt(variation) }

// allowed brings a limit within the bounds, as a whole number.
func (r reading) allowed(limit float64) float64 {
	return whole(min(max(limit, r.min), r.max))
}
