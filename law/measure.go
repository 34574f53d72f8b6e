package law

import (
	"math"
	"time"
)

// fresh plans separate windows, for a law that compares one window with the next. A window closes
// after one sample for each slot, to cover the work of one round trip, but not before it has enough
// samples for a decision.
func fresh(w Window, minSamples, maxSamples int, limit float64) Plan {
	return Plan{MinSamples: minSamples, MaxSamples: max(maxSamples, int(limit), enough(minSamples, w))}
}

// enough is the number of samples for a decision, if the law asks for minSamples.
func enough(minSamples int, w Window) int { return max(1, minSamples, w.MinSamples) }

// failing reports whether enough work ended and none of it succeeded.
func failing(w Window, enough int) bool { return w.Samples == 0 && w.Completed() >= enough }

// throughput is successful work per second. Work that already ran when a fresh window began ended
// within the window too, but gave no sample. In a window of a few latencies it is a good part of
// all work. It is assumed to succeed in the same proportion as the work that began in the window.
func throughput(w Window) float64 {
	if w.Samples <= 0 || w.Elapsed <= 0 {
		return 0
	}
	before := float64(max(0, w.First)) * float64(w.Samples) / float64(w.Completed())
	return (float64(w.Samples) + before) / w.Elapsed.Seconds()
}

// latency is the average latency in seconds, or 0 if it was not measured. By Little's law it
// is the work in flight over the throughput. The mean of the samples is lower, because the
// quick part of the work that started in a short window ends first. Slots held by failed work
// count as well.
func latency(w Window) float64 {
	if r := w.InFlight / throughput(w); r > 0 && !math.IsInf(r, 0) {
		return r
	}
	return max(0, w.Mean.Seconds())
}

// measured returns the signal that a law holds, which is the quantile q if the law names no signal,
// and its value.
func measured(s Signal, q float64, w Window) (Signal, time.Duration) {
	switch s {
	case EWMA:
		return s, w.EWMA
	case QueueWait:
		return s, w.QueueWait
	}
	return quantile(q), w.Quantile(q)
}

// duration converts seconds.
func duration(seconds float64) time.Duration {
	return time.Duration(min(max(seconds*float64(time.Second), 0), math.MaxInt64/2))
}

// An estimate is a limit with the fraction that the limiter rounds away.
type estimate float64

// at is the limit that w was measured under, with its fraction unless something other than the law
// moved it.
func (e estimate) at(w Window) float64 {
	if whole(float64(e)) == float64(w.Limit) {
		return float64(e)
	}
	return float64(w.Limit)
}

// move goes to a limit within the bounds and returns it as a whole number.
func (e *estimate) move(to float64, w Window) float64 {
	to = within(to, w)
	*e = estimate(to)
	return whole(to)
}

// rounding keeps a product that falls just short of a whole number, such as
// 90 * 0.7, from losing a slot.
const rounding = 1e-9

// whole rounds down. The conversion rounds a product before the sum. Some machines would otherwise
// compute the product and the sum in one step, with another result.
func whole(limit float64) float64 { return math.Floor(float64(limit) + rounding) }

// wholeUp rounds up.
func wholeUp(limit float64) float64 { return math.Ceil(float64(limit) - rounding) }

func within(limit float64, w Window) float64 {
	return min(max(limit, float64(w.Min)), float64(w.Max))
}

// halved is the next limit after a window in which nothing succeeds.
func halved(w Window) (float64, Reason) {
	return math.Floor(float64(w.Limit) / 2), Reason{Above, Errors, w.ErrorRate(), 0}
}

func tooFew(w Window, enough int) Reason {
	return Reason{Code: TooFew, Have: float64(w.Samples), Want: float64(enough)}
}

// lean explains a move by comparing a signal with its target. A move in the other direction, or no
// move, has the code Within.
func lean(s Signal, have, want, from, to float64) Reason {
	switch {
	case to < from && have > want:
		return Reason{Above, s, have, want}
	case to > from && have < want:
		return Reason{Below, s, have, want}
	}
	return Reason{Within, s, have, want}
}
