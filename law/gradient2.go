package law

import (
	"github.com/weir-go/weir/internal/portable"
)

// Gradient2 compares the latency of a window with its own long-term average, and
// moves the limit by their ratio.
//
// With the latency R of the window and the average L over about Long windows, a
// limit n leads to
//
//	n' = n + Smoothing (n*g + Queue - n),  g = Tolerance * L/R, from 1/2 to 1
//	L' = L + 2/(Long+1) (R - L)
//
// The first ten windows have a plain average. While R is within Tolerance of L the limit grows by
// Smoothing*Queue a window, which is 0.8 slots with the defaults. It is at rest if n(1-g) = Queue.
// An L of more than twice R loses a twentieth a window, so that it does not take Long windows to
// forget an overload.
//
// [Gradient] needs a minimum; an average is robust. So Gradient2 suits work whose latency
// varies, and a base that drifts.
//
// It fails because the average follows the overload that it should detect. In an overload that
// lasts, L rises to R within about Long windows, g comes back to 1 and the limit climbs; a limiter
// that starts inside an overload takes the overload for normal. It reacts only to a change, grows
// by fifths of a slot, and cannot hold a latency.
//
// The zero Gradient2 has the defaults of the source, Netflix concurrency-limits
// (class Gradient2Limit). Unlike the source it raises only a limit that was used
// and halves it when nothing succeeds.
type Gradient2 struct {
	// Tolerance is the factor by which the latency may exceed the long-term average before
	// the limit is lowered: 1 or more. Defaults to 1.5.
	Tolerance float64

	// Queue is the number of slots allowed above the gradient's answer. Defaults to 4.
	Queue int

	// Smoothing is the share of a move that is carried out, from 0 to 1. Defaults to 0.2.
	Smoothing float64

	// Long is the number of windows in the long-term average. Defaults to 600.
	Long int

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 100.
	MaxSamples int
}

const (
	warmUp     = 10   // windows with a plain average
	outdated   = 2    // latencies above which the long-term average is reduced
	forgetting = 0.95 // factor of an outdated average in each window
)

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (g Gradient2) Controller(Bounds) (Controller, error) {
	return started(g, func(g Gradient2) Controller { return &gradient2Controller{Gradient2: g} })
}

// String returns the text form, with the settings that are not zero: for example
// "gradient2(long=100)". [Parse] reads it.
func (g Gradient2) String() string { return g.form().String() }

func (g *Gradient2) form() form {
	return form{name: "gradient2", settings: []setting{
		{"tolerance", number[float64]{field: &g.Tolerance, preset: 1.5, from: 1}},
		{"queue", number[int]{field: &g.Queue, preset: 4}},
		{"smoothing", number[float64]{field: &g.Smoothing, preset: 0.2, atMost: 1}},
		{"long", number[int]{field: &g.Long, preset: 600}},
		{"min_samples", number[int]{field: &g.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &g.MaxSamples, preset: earlySamples}},
	}}
}

type gradient2Controller struct {
	Gradient2
	limit   estimate
	long    float64 // long-term average in seconds
	windows int     // in the plain average so far
}

// Retune takes new settings and keeps the limit and the long-term average.
func (c *gradient2Controller) Retune(l Law) bool { return retuned(&c.Gradient2, l) }

func (c *gradient2Controller) Next(w Window) Decision {
	to, reason := c.judge(w, c.limit.at(w))
	limit := c.limit.move(to, w)
	return Decision{Limit: limit, Reason: reason, Next: fresh(w, c.MinSamples, c.MaxSamples, limit)}
}

func (c *gradient2Controller) judge(w Window, from float64) (float64, Reason) {
	enough, now := enough(c.MinSamples, w), latency(w)
	switch {
	case w.Completed() == 0:
		return from, Reason{}
	case failing(w, enough):
		return halved(w)
	case w.Samples < enough || now == 0:
		return from, tooFew(w, enough)
	}
	want := c.Tolerance * c.average(now)
	if c.long > outdated*now {
		c.long *= forgetting
	}
	to := float64(from*min(max(want/now, steepest), 1)) + float64(c.Queue)
	if !w.Used() && (to > from || 2*w.Peak < w.Limit) {
		return from, Reason{Unused, Average, now, want}
	}
	to = portable.Toward(from, to, c.Smoothing)
	return to, lean(Average, now, want, from, to)
}

// average adds a latency to the long-term average.
func (c *gradient2Controller) average(now float64) float64 {
	weight := 2 / (float64(c.Long) + 1)
	if c.windows < warmUp {
		c.windows++
		weight = 1 / float64(c.windows)
	}
	c.long = portable.Toward(c.long, now, weight)
	return c.long
}
