package law

import (
	"fmt"
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// Vegas estimates the work waiting in a queue and keeps it between two bounds, as TCP Vegas
// does with packets.
//
// With the latency R of the window and the least latency R0, Little's law says that n*R0/R of n
// slots are at work, and the work in the other slots waits:
//
//	s = ceil(n (1 - R0/R))
//
// With the size k = log10(n), at least 1 and rounded down, a window leads to
//
//	n + Beta*k    when s <= Threshold*k: nothing waits
//	n + k         when s < Alpha*k
//	n - k         when s > Beta*k, or work ran out of time
//	n             otherwise
//
// It looks at a number of slots, not at a ratio, so a few more slots of queue count the same
// for a large limit as for a small one; k makes up for that in part. R0 is replaced by the
// latency of one window every Probe*n windows, at any load.
//
// It suits a stable latency and a small limit, where each slot of queue counts.
//
// It fails as every law with a least latency does: noise pulls R0 down, and as s is in proportion
// to n, a large limit then sheds slots without any queue. Work that becomes slower looks like a
// queue, and the limit falls until the next probe; a probe in an overload makes the queue look
// normal. Vegas sheds k slots a window, so an overload by hundreds of slots lasts.
//
// The zero Vegas has the defaults of the source, Netflix concurrency-limits (class VegasLimit),
// after L. Brakmo, L. Peterson: TCP Vegas, 1995. Unlike the source it raises only a limit that was
// used, and probes after a number of windows that is not random but the mean of the source's random
// number.
type Vegas struct {
	// Alpha is the waiting work, in units of k, from which the limit is no longer raised.
	// Defaults to 3.
	Alpha float64

	// Beta is the waiting work, in units of k, above which the limit is lowered. It is at
	// least Alpha. Defaults to 6.
	Beta float64

	// Threshold is the waiting work, in units of k, up to which the limit is raised by
	// Beta*k. Defaults to 1.
	Threshold float64

	// Probe is the number of windows for each slot after which the least latency is replaced.
	// Defaults to 22.5.
	Probe float64

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 100.
	MaxSamples int
}

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (v Vegas) Controller(Bounds) (Controller, error) {
	return started(v, func(v Vegas) Controller { return &vegasController{Vegas: v} })
}

// String returns the text form, with the settings that are not zero: for example
// "vegas(alpha=2,beta=4)". [Parse] reads it.
func (v Vegas) String() string { return v.form().String() }

func (v *Vegas) form() form {
	return form{name: "vegas", settings: []setting{
		{"alpha", number[float64]{field: &v.Alpha, preset: 3}},
		{"beta", number[float64]{field: &v.Beta, preset: 6}},
		{"threshold", number[float64]{field: &v.Threshold, preset: 1}},
		{"probe", number[float64]{field: &v.Probe, preset: 22.5}}, // 30 times a random number from 0.5 to 1 in the source
		{"min_samples", number[int]{field: &v.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &v.MaxSamples, preset: earlySamples}},
	}, last: func() string {
		if v.Alpha > v.Beta {
			return fmt.Sprintf("alpha %v out of range: want 0 to beta, %v", v.Alpha, v.Beta)
		}
		return ""
	}}
}

type vegasController struct {
	Vegas
	least   float64 // least latency in seconds, 0 before the first
	windows float64 // since least was replaced
}

// Retune takes new settings and keeps the least latency.
func (c *vegasController) Retune(l Law) bool { return retuned(&c.Vegas, l) }

func (c *vegasController) Next(w Window) Decision {
	to, reason := c.judge(w)
	to = within(whole(to), w)
	return Decision{Limit: to, Reason: reason, Next: fresh(w, c.MinSamples, c.MaxSamples, to)}
}

func (c *vegasController) judge(w Window) (float64, Reason) {
	limit, enough, now := float64(w.Limit), enough(c.MinSamples, w), latency(w)
	switch {
	case w.Completed() == 0:
		return limit, Reason{}
	case failing(w, enough):
		return halved(w)
	case w.Samples < enough || now == 0:
		return limit, tooFew(w, enough)
	}
	c.windows++
	due := c.windows > max(1, c.Probe*limit)
	if due || c.least == 0 || now < c.least {
		r := Reason{Rebased, NoLoad, now, c.least}
		c.least = now
		if due {
			c.windows = 0
		}
		return limit, r
	}
	return c.step(w, limit*(1-c.least/now))
}

// step moves the limit by the amount of waiting work.
func (c *vegasController) step(w Window, standing float64) (float64, Reason) {
	limit := float64(w.Limit)
	size := max(1, whole(portable.Log(limit)/math.Ln10))
	standing = max(0, wholeUp(standing))
	alpha, beta := c.Alpha*size, float64(c.Beta*size)
	switch {
	case w.Overloaded > 0:
		return limit - size, Reason{Above, Pushback, w.OverloadRate(), 0}
	case w.Timeouts > 0:
		return limit - size, Reason{Above, Timeouts, w.TimeoutRate(), 0}
	case !w.Used() && (standing < alpha || 2*w.Peak < w.Limit):
		return limit, Reason{Unused, Standing, standing, alpha}
	case standing <= c.Threshold*size:
		return limit + beta, Reason{Below, Standing, standing, alpha}
	case standing < alpha:
		return limit + size, Reason{Below, Standing, standing, alpha}
	case standing > beta:
		return limit - size, Reason{Above, Standing, standing, beta}
	}
	return limit, Reason{Within, Standing, standing, alpha}
}
