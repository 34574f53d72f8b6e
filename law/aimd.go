package law

import "time"

// AIMD adds a slot while work comes back in time, and cuts the limit by a factor when work is late:
// additive increase, multiplicative decrease, which is how TCP finds its share of a link.
//
// From a limit n a window leads to
//
//	floor(n * Backoff)   when the average latency exceeds Timeout, or more
//	                     than MaxTimeoutRate of the work ran out of time
//	n + Step             otherwise, if n was used
//
// Of all rules that are linear in n, only additive increase with multiplicative decrease leads
// limiters that share a server to equal shares. Between two cuts the limit is a saw tooth from
// n*Backoff to n. Its average is (1+Backoff)/2 of the limit at which work begins to be late.
//
// AIMD suits a downstream that refuses or times out under overload, and limiters that share a
// downstream.
//
// AIMD fails if overload shows as latency below Timeout: nothing cuts the limit, and the queue
// grows until the latency is Timeout. With too few successes, and without timeouts and refusals,
// the limit stays at its value. A timeout or a refusal that load did not cause cuts the limit too.
// Growth by Step takes (m-n)/Step windows from n to m, so a rise to a far higher limit is slow.
//
// The zero AIMD has the defaults of the source, the class AIMDLimit of Netflix concurrency-limits.
// AIMDLimit looks at each request, and counts half a limit as used. AIMD looks at windows, so a
// burst of timeouts cuts the limit once.
type AIMD struct {
	// Backoff is the share of the limit that a cut leaves, rounded down: from 0 to less than
	// 1. Defaults to 0.9.
	Backoff float64

	// Timeout is the average latency above which the limit is cut. Set it to the time that
	// callers will wait. Defaults to 5 s.
	Timeout time.Duration

	// MaxTimeoutRate is the share of the work that may run out of time, from 0 to less than 1. 0
	// means that any timeout cuts the limit.
	MaxTimeoutRate float64

	// Step is the number of slots that a raise adds. Defaults to 1.
	Step int

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 100.
	MaxSamples int
}

// earlySamples is the number of samples whose average has an error of a tenth, if the standard
// deviation of the latency equals its mean.
const earlySamples = 100

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (a AIMD) Controller(Bounds) (Controller, error) {
	return started(a, func(a AIMD) Controller { return &aimdController{a} })
}

// String returns the text form, with the settings that are not zero: for example
// "aimd(timeout=200ms)". [Parse] reads it.
func (a AIMD) String() string { return a.form().String() }

func (a *AIMD) form() form {
	return form{name: "aimd", settings: []setting{
		{"backoff", number[float64]{field: &a.Backoff, preset: 0.9, below: 1}},
		{"timeout", number[time.Duration]{field: &a.Timeout, preset: 5 * time.Second}},
		{"max_timeout_rate", number[float64]{field: &a.MaxTimeoutRate, below: 1}},
		{"step", number[int]{field: &a.Step, preset: 1}},
		{"min_samples", number[int]{field: &a.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &a.MaxSamples, preset: earlySamples}},
	}}
}

// An aimdController has no state: the limit comes with each window.
type aimdController struct {
	AIMD
}

// Retune takes new settings.
func (c *aimdController) Retune(l Law) bool { return retuned(&c.AIMD, l) }

func (c *aimdController) Next(w Window) Decision {
	limit := float64(w.Limit)
	to, reason := c.judge(w)
	switch to {
	case cut:
		limit = min(whole(limit*c.Backoff), limit-1)
	case raise:
		limit += float64(c.Step)
	}
	limit = within(limit, w)
	return Decision{Limit: limit, Reason: reason, Next: fresh(w, c.MinSamples, c.MaxSamples, limit)}
}

func (c *aimdController) judge(w Window) (move, Reason) {
	if w.Overloaded > 0 {
		return cut, Reason{Above, Pushback, w.OverloadRate(), 0}
	}
	if w.Completed() == 0 {
		return hold, Reason{}
	}
	enough := enough(c.MinSamples, w)
	if w.Completed() >= enough && w.TimeoutRate() > c.MaxTimeoutRate {
		return cut, Reason{Above, Timeouts, w.TimeoutRate(), c.MaxTimeoutRate}
	}
	if w.Samples < enough {
		return hold, tooFew(w, enough)
	}
	r := Reason{Below, Average, latency(w), c.Timeout.Seconds()}
	switch {
	case r.Have > r.Want:
		r.Code = Above
		return cut, r
	case !w.Used():
		r.Code = Unused
		return hold, r
	}
	return raise, r
}
