package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A flow is what a window says of the curve, in seconds. Work counts by its weight.
type flow struct {
	span       float64 // measured
	done       float64 // work that succeeded
	ended      float64 // work that ended, however it did
	n, x       float64 // concurrency and throughput: the point on the curve
	latency    float64
	doubt      float64 // ln of how far two measurements of the latency are apart
	saturated  bool    // work was held back
	bursty     bool    // work came in bursts that left the server idle between
	filling    bool    // work in flight rose meanwhile
	flooding   bool    // it rose so much that the window is no point on the curve
	limit, max float64
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
		span:  w.Elapsed.Seconds(),
		done:  float64(w.Samples + w.Carried),
		ended: float64(w.Completed() + w.Carried + w.CarriedFailed),
		limit: float64(w.Limit),
		max:   float64(w.Max),
	}
	if f.span <= 0 || w.Samples < 0 || w.Carried < 0 || f.ended < f.done || f.done < leastDone {
		return f, false
	}
	f.saturated = float64(w.Refused+w.Waited) > heldBack*(f.ended+float64(w.Refused))
	f.filling = float64(w.Last) > float64(1.15*float64(w.First))+3
	f.flooding = float64(w.Last) > float64(1.5*float64(w.First))+5
	f.locate(w)
	return f, true
}

// locate finds the point on the curve.
//
// The concurrency is not the mean over time. A burst that leaves the server idle for nine
// tenths of the time ran at its own height, and a tenth of that taken for the knee
// refused 95% of a fan-out on an idle server. In steady traffic the two are the same.
//
// The latency is that of Little's law, unless what ended took longer than the window:
// then completions may come in waves, each an answer to an earlier move of the limit. What
// the two latencies say of the throughput is averaged, and weighs less the more they differ.
func (f *flow) locate(w Window) {
	mean := max(finite(w.InFlight, f.limit), 0.5)
	f.n = max(mean, finite(w.Crowd, mean))
	f.bursty = f.n > 1.5*mean
	f.latency = mean * f.span / max(f.done, float64(w.Weight))
	f.x = f.n / f.latency
	if sojourn := w.Sojourn.Seconds(); sojourn > f.span {
		f.doubt = portable.Log(f.latency / sojourn)
		f.x *= portable.FiniteExp(f.doubt / 2)
		f.latency = sojourn
	}
}

// finite returns v if it can be a concurrency.
func finite(v, otherwise float64) float64 {
	if v >= 0 && v <= math.MaxInt32 {
		return v
	}
	return otherwise
}

// upperLatency is the latency and one standard error of its mean: it is not too low by chance.
func (f flow) upperLatency(variation float64) float64 {
	return f.latency * portable.FiniteExp(math.Sqrt((0.1+variation)/f.done))
}
