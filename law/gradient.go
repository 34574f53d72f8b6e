package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Gradient compares the latency now with the least latency that it has seen, and moves the limit by
// their ratio.
//
// With the latency R of the window and the least latency R0 over all windows, a
// limit n leads to
//
//	n' = n * g + q,  g = Tolerance * R0/R, from 1/2 to 1
//	                 q = sqrt(n), at least 4: the allowed queue
//
// While R is within Tolerance of R0, g is 1 and the limit grows by q a window. It is at rest if
// n(1-g) = q: with n at 100 and a q of 10 at R = Tolerance * R0 / 0.9. The square root lets small
// limits grow fast and allows large limits a smaller share of queueing, which fits the noise of
// many independent arrivals. A decision that lowers the limit moves it only the share Smoothing of
// the way. A decision that raises the limit moves it all the way. Timeouts and refusals by the
// downstream cut it by Backoff.
//
// R0 can only fall, so it is forgotten every Remeasure windows: the limit is lowered to q,
// running work gets two latencies to drain, and R0 starts anew. The cost is the climb back,
// about 2*sqrt(n) windows.
//
// It suits a service whose latency without load is steady and whose work is of
// one kind.
//
// It fails if the least latency is not the latency without load. R0 is the minimum of noisy values:
// the more the latency varies, the further R0 lies below the true latency and the lower the limit,
// unless Tolerance makes up for it. Work that becomes slower looks like a queue until the next
// re-measurement, and an R0 that was measured in an overload makes the overload look normal.
//
// The zero Gradient has the defaults of the source, Netflix concurrency-limits
// (class GradientLimit). Unlike the source it raises only a limit that was used,
// and re-measures after a number of windows that is not random.
type Gradient struct {
	// Tolerance is the factor by which the latency may exceed the least before the limit is
	// lowered: 1 or more. Defaults to 2.
	Tolerance float64

	// Queue is the number of slots allowed above the gradient's answer. Defaults to the
	// square root of the limit, at least 4.
	Queue int

	// Smoothing is the share of a lowering that is carried out, from 0 to 1. Defaults to 0.2.
	Smoothing float64

	// Backoff is the share of the limit that a window with timeouts or refusals leaves, before
	// Smoothing: from 0 to less than 1. Defaults to 0.9.
	Backoff float64

	// Remeasure is the number of windows after which the least latency is measured anew.
	// Defaults to 1000.
	Remeasure int

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 100.
	MaxSamples int
}

const (
	gradientQueue = 4 // the least value of the square root

	// steepest bounds a fall: one bad window takes at most half of the limit.
	steepest = 0.5
	// drain is the number of latencies that a lowered limit gets to take effect before the
	// latency without load is measured.
	drain = 2
)

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (g Gradient) Controller(Bounds) (Controller, error) {
	return started(g, func(g Gradient) Controller { return &gradientController{Gradient: g} })
}

// String returns the text form, with the settings that are not zero: for example
// "gradient(tolerance=1.5)". [Parse] reads it.
func (g Gradient) String() string { return g.form().String() }

func (g *Gradient) form() form {
	return form{name: "gradient", settings: []setting{
		{"tolerance", number[float64]{field: &g.Tolerance, preset: 2, from: 1}},
		{"queue", number[int]{field: &g.Queue, unset: "the square root of the limit"}},
		{"smoothing", number[float64]{field: &g.Smoothing, preset: 0.2, atMost: 1}},
		{"backoff", number[float64]{field: &g.Backoff, preset: 0.9, below: 1}},
		{"remeasure", number[int]{field: &g.Remeasure, preset: 1000}},
		{"min_samples", number[int]{field: &g.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &g.MaxSamples, preset: earlySamples}},
	}}
}

type gradientController struct {
	Gradient
	limit   estimate
	least   float64 // least latency in seconds, 0 before the first
	windows int     // since least was measured anew
}

// Retune takes new settings and keeps the limit and the least latency.
func (c *gradientController) Retune(l Law) bool { return retuned(&c.Gradient, l) }

func (c *gradientController) Next(w Window) Decision {
	from := c.limit.at(w)
	to, reason, settle := c.judge(w, from)
	d := Decision{Limit: c.limit.move(to, w), Reason: reason}
	d.Next = fresh(w, c.MinSamples, c.MaxSamples, d.Limit)
	d.Next.Settle = duration(settle)
	return d
}

// judge returns the next limit, the reason, and the seconds that the limit needs to settle.
func (c *gradientController) judge(w Window, from float64) (to float64, why Reason, settle float64) {
	enough, now := enough(c.MinSamples, w), latency(w)
	switch {
	case w.Completed() == 0:
		return from, Reason{}, 0
	case failing(w, enough):
		to, why = halved(w)
		return to, why, 0
	case w.Samples < enough || now == 0:
		return from, tooFew(w, enough), 0
	}
	queue := c.queue(from)
	if c.windows++; c.windows > c.Remeasure {
		c.windows, c.least = 0, 0
		return min(from, queue), Reason{Code: Probing}, drain * now
	}
	if c.least == 0 || now < c.least {
		c.least = now
	}
	to, why = c.step(w, from, now, queue)
	return to, why, 0
}

func (c *gradientController) queue(limit float64) float64 {
	if c.Queue > 0 {
		return float64(c.Queue)
	}
	return max(gradientQueue, math.Floor(math.Sqrt(limit)))
}

func (c *gradientController) step(w Window, from, now, queue float64) (float64, Reason) {
	want := c.Tolerance * c.least
	to := float64(from*min(max(want/now, steepest), 1)) + queue
	switch {
	case w.Timeouts+w.Overloaded > 0:
		to = from * c.Backoff
	case !w.Used() && (to > from || 2*w.Peak < w.Limit):
		return from, Reason{Unused, Average, now, want}
	}
	if to < from {
		to = portable.Toward(from, to, c.Smoothing)
	}
	switch {
	case w.Overloaded > 0:
		return to, Reason{Above, Pushback, w.OverloadRate(), 0}
	case w.Timeouts > 0:
		return to, Reason{Above, Timeouts, w.TimeoutRate(), 0}
	}
	return to, lean(Average, now, want, from, to)
}
