package law

import "math"

// A flow is what a window says of the curve, in seconds. Work counts by its weight.
type flow struct {
	span       float64 // measured
	done       float64 // work that succeeded
	ended      float64 // work that ended, however it did
	n, x       float64 // concurrency and throughput: the point on the curve
	latency    float64 // n / x
	saturated  bool    // work was held back
	filling    bool    // work in flight rose meanwhile
	flooding   bool    // it rose so much that the window is no point on the curve
	limit, max float64
	doubt      float64 // ln of the latency by Little's law over the mean one: not 0 while the flow is not steady
}

const (
	// leastDone is how many completions make a window.
	leastDone = 2
	// heldBack is the share of arrivals beyond which the limit counts as reached.
	heldBack = 0.01
)

// flowOf reports false for a window in which too little ended.
func flowOf(w Window) (flow, bool) {
	f := flow{
		span: w.Elapsed.Seconds(), done: float64(w.Samples + w.Carried), ended: float64(w.Completed() + w.Carried + w.CarriedFailed),
		limit: float64(w.Limit), max: float64(w.Max),
	}
	if f.span <= 0 || w.Completed() < 0 || f.done < leastDone {
		return f, false
	}
	f.saturated = float64(w.Refused+w.Waited) > heldBack*(f.ended+float64(w.Refused))
	f.filling = float64(w.Last) > float64(1.15*float64(w.First))+3
	f.flooding = float64(w.Last) > float64(1.5*float64(w.First))+5
	f.latency, f.n = f.littles(w)
	f.x = f.n / f.latency
	if sojourn := w.Sojourn.Seconds(); sojourn > tSojS*f.span && tSoj > 0 {
		f.doubt = ln(f.latency / sojourn)
		if tSoj > 1 {
			f.x *= exp(tSojX * f.doubt)
		}
		f.latency = sojourn
	}
	return f, true
}

// littles returns the latency, by Little's law, and the concurrency at which it was. That is
// not the mean over time: a burst that leaves the server idle for nine tenths of the
// time ran at its own height, and a tenth of that taken for the knee refused 95% of a
// fan-out on an idle server. In steady traffic the two are the same.
func (f flow) littles(w Window) (latency, n float64) {
	mean := w.InFlight
	if !(mean >= 0 && mean <= math.MaxInt32) {
		mean = f.limit
	}
	mean = max(mean, 0.5)
	n = mean
	if w.Crowd > mean && w.Crowd <= math.MaxInt32 {
		n = w.Crowd
	}
	weight := max(f.done, float64(w.Weight))
	return mean * f.span / weight, n
}
