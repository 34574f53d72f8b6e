package law

import (
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Little computes the limit from Little's law: work in flight is throughput times latency, so a
// server that can serve P requests a second, at a latency of R0 when no work waits, needs P*R0
// slots to be busy, and no more.
//
// Below its peak a server's latency stays at R0 and throughput follows the load; above it
// throughput stays at P and latency follows the load. So with the average latency R of a
// window, the no-load latency R0 and the peak throughput P,
//
//	n = P ((2+Alpha) R0 - R)
//
// Without a queue R is R0 and n is P*R0*(1+Alpha): the limit leaves room of Alpha for more
// throughput to show. As a queue builds, R rises and n falls. At the peak, where n = P*R, the
// formula holds at R = (1+Alpha/2) R0: the law keeps that queue on any server. The limit never goes
// below Floor*P*R0, and does not fall while R is below (1+Alpha/2) R0: there it is above n only
// because it is not filled.
//
// # Measurements
//
// R and P come from windows that close after MaxSamples, and after far fewer samples while the
// limit still grows from its start. R is the work in flight over the throughput.
//
// R0 follows falls: a lower R moves R0 the share EMA of the way, or less if the window has fewer
// than MaxSamples, so that one lucky window does not halve R0. A rise looks like a queue, so every
// Remeasure the limit is lowered to the share Probe of itself or, if less, of P*R0. Running work
// gets twice the latency R to drain, and R0 becomes the latency of one window. The limit is
// restored at once. A limit that was not used makes no queue; there R0 is measured without lowering
// it. If R0 has risen by more than Alpha, the work has changed, and P is forgotten too. If R0 has
// fallen by as much, the old R0 contained a queue, and another probe follows the next window.
//
// P rises at once, and falls by a tenth of EMA, and only while the limit is used: less
// throughput seldom means less capacity.
//
// # The cost of a probe
//
// A probe that takes p seconds, every d seconds, loses at most (1-Probe)*p/d of the traffic, and d
// is at least 20 p unless each probe finds a much lower R0. The decisions with the reason [Probing]
// and [Rebased] say when a probe began and ended, and refused_probing in a simulation's score is
// the share of attempts refused between them. With
//
//	weir sim suite --named --law little --law 'little(remeasure=1000h)' --seeds 2 --seed 31 --summary --json
//
// that is 2.2%. In a steady overload probing costs 0.4 to 1.6 points of goodput, and 6 and 14 if
// throughput falls beyond a peak ("usl-2x", "kata-2x"). Without probes, work that became slower
// stays refused: the mean over all scenarios is 94.4% with probes and 92.3% without.
//
// # When to use it
//
// It suits a service whose work is of one kind: it finds the limit in a few windows from any lower
// limit, and needs no target. Noise of the latency is averaged over a window before it counts, and
// without load it moves nothing.
//
// It fails if a maximum does not measure the capacity: P is the maximum of noisy windows. It is too
// high when latency has a heavy tail and the windows are short, and noise lowers R0 between probes.
// Work that becomes slower costs goodput for up to one Remeasure. Inside an overload R0 contains a
// queue, and each probe leaves the share Probe of that queue.
//
// # Sources
//
// J. Little: A Proof for the Queuing Formula L = λW, 1961. The law is that of Apache brpc's
// "auto" concurrency limiter, with the same averages, early update and wait for the drain.
// The formula and the floor come from an earlier version; today brpc uses n = P*R0*(1+a), and
// moves a between 0.06 and 0.3. brpc lowers the limit to 0.9 of P*R0 every 25 to 50 s.
type Little struct {
	// Alpha is the accepted rise of the latency, as a share of the no-load latency. Defaults
	// to 0.3.
	Alpha float64

	// EMA is the weight of a lower latency in the no-load latency, from 0 to 1. The weight of
	// a lower throughput in the peak is a tenth of it. Defaults to 0.1.
	EMA float64

	// Floor is the least limit, as a share of the no-load concurrency, however slow work gets: from
	// 0 to 1. Defaults to 1.
	Floor float64

	// Remeasure is how often the no-load latency is measured anew. Defaults
	// to 10 s.
	Remeasure time.Duration

	// Probe is the share of the no-load concurrency that is admitted while the no-load latency is
	// measured: from 0 to less than 1. Defaults to 0.5.
	Probe float64

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 200.
	MaxSamples int
}

const (
	// slower is the factor by which the peak falls slower than the no-load latency.
	slower = 10
	// rampSamples is the number of samples that closes a window while the limit grows from its
	// start.
	rampSamples = 25
	// probeEvery is the least ratio of all time to the time of probes.
	probeEvery = 20
)

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (l Little) Controller(Bounds) (Controller, error) {
	return started(l, func(l Little) Controller { return &littleController{Little: l} })
}

// String returns the text form, with the settings that are not zero: for example
// "little(alpha=0.2,remeasure=30s)". [Parse] reads it.
func (l Little) String() string { return l.form().String() }

func (l *Little) form() form {
	return form{name: "little", settings: []setting{
		{"alpha", number[float64]{field: &l.Alpha, preset: 0.3}},
		{"ema", number[float64]{field: &l.EMA, preset: 0.1, atMost: 1}},
		{"floor", number[float64]{field: &l.Floor, preset: 1, atMost: 1}},
		{"remeasure", number[time.Duration]{field: &l.Remeasure, preset: 10 * time.Second}},
		{"probe", number[float64]{field: &l.Probe, preset: 0.5, below: 1}},
		{"min_samples", number[int]{field: &l.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &l.MaxSamples, preset: 200}},
	}}
}

type littleController struct {
	Little
	noLoad float64 // latency without load in seconds
	known  float64 // share of a full window behind noLoad
	peak   float64 // peak throughput per second
	recent float64 // throughput of the last window in which the limit was used
	since  float64 // seconds since noLoad was measured, or since the probe began
	pause  float64 // least seconds until the next probe
	phase  phase
}

// A phase is the purpose of the next window.
type phase uint8

const (
	ramping phase = iota // the limit grows from its start
	steady
	probing // the limit is lowered to measure noLoad
)

// Retune takes new settings and keeps all measurements.
func (c *littleController) Retune(l Law) bool { return retuned(&c.Little, l) }

func (c *littleController) Next(w Window) Decision {
	c.since += max(0, w.Elapsed.Seconds())
	to, reason, settle := c.judge(w)
	limit := within(to, w)
	d := Decision{Limit: limit, Reason: reason, Next: fresh(w, c.MinSamples, c.samples(), limit)}
	d.Next.Settle = duration(settle)
	return d
}

// samples is the number of samples that closes the next window.
func (c *littleController) samples() int {
	switch c.phase {
	case ramping:
		return min(c.MaxSamples, rampSamples)
	case probing:
		return c.MaxSamples / 2
	}
	return c.MaxSamples
}

// judge returns the next limit, the reason, and the seconds that the limit needs to settle.
func (c *littleController) judge(w Window) (to float64, why Reason, settle float64) {
	enough, rate, now := enough(c.MinSamples, w), throughput(w), latency(w)
	limit := float64(w.Limit)
	switch {
	case w.Completed() == 0:
		return limit, Reason{}, 0
	case failing(w, enough):
		to, why = halved(w)
		return to, why, 0
	case w.Samples < enough || !(rate > 0) || now == 0:
		if c.phase == probing {
			c.measured(c.noLoad)
			limit = c.formula(c.noLoad)
		}
		return limit, tooFew(w, enough), 0
	case c.phase == probing:
		to, why = c.restore(rate, now)
		return to, why, 0
	}
	c.learn(w, rate, now)
	if c.since >= max(c.Remeasure.Seconds(), c.pause) {
		return c.probe(w, now)
	}
	to, why = c.step(w, now)
	return to, why, 0
}

// learn updates noLoad and the peak from a window. The first noLoad is the average of a full
// window's samples, because a noLoad that started too low could not rise.
func (c *littleController) learn(w Window, rate, now float64) {
	share := min(1, float64(w.Samples)/float64(c.MaxSamples))
	if c.known < 1 {
		c.known = min(1, c.known+share)
		c.noLoad = portable.Toward(c.noLoad, now, share/c.known)
	} else if now < c.noLoad {
		c.noLoad = portable.Toward(c.noLoad, now, c.EMA*share)
	}
	if w.Used() {
		c.recent = rate
		c.peak = portable.Toward(c.peak, rate, c.EMA/slower)
	}
	c.peak = max(c.peak, rate)
}

// formula is the limit that Little's law gives at a latency. It is rounded up, or a limit of
// a few slots would never find room for more.
func (c *littleController) formula(now float64) float64 {
	left := float64((2+c.Alpha)*c.noLoad) - now
	return wholeUp(c.peak * max(left, c.Floor*c.noLoad))
}

// step follows the formula if the limit was used. Without a queue it does not lower the limit: the
// formula lies below a full limit only if there is a queue.
func (c *littleController) step(w Window, now float64) (float64, Reason) {
	from, want := float64(w.Limit), (2+c.Alpha)/2*c.noLoad
	if !w.Used() {
		return from, Reason{Unused, Average, now, want}
	}
	to := c.formula(now)
	if to <= from {
		c.phase = steady
	}
	if now <= want {
		to = max(to, from)
	}
	return to, lean(Average, now, want, from, to)
}

// probe lowers the limit to measure the latency without load. If the limit is not used, or
// cannot be lowered, the measurement is immediate.
func (c *littleController) probe(w Window, now float64) (to float64, why Reason, settle float64) {
	from := float64(w.Limit)
	to = within(wholeUp(c.Probe*min(from, c.peak*c.noLoad)), w)
	if !w.Used() || to >= from {
		why = Reason{Rebased, NoLoad, now, c.noLoad}
		c.measured(now)
		return from, why, 0
	}
	settle = drain * now
	c.phase, c.since = probing, settle
	return to, Reason{Code: Probing}, settle
}

// restore ends a probe. Slower work is other work: its peak is the last throughput, and the limit
// may have far to go. Quicker work means that noLoad contained a queue, and may still contain a
// queue.
func (c *littleController) restore(rate, now float64) (float64, Reason) {
	why := Reason{Rebased, NoLoad, now, c.noLoad}
	c.measured(now)
	switch {
	case why.Have > (1+c.Alpha)*why.Want:
		c.peak, c.phase = c.recent, ramping
	case why.Have*(1+c.Alpha) < why.Want:
		c.since = max(c.Remeasure.Seconds(), c.pause)
	}
	c.peak = max(c.peak, rate)
	return c.formula(now), why
}

// measured notes that the latency without load was measured just now.
func (c *littleController) measured(noLoad float64) {
	if c.phase == probing {
		c.phase, c.pause = steady, probeEvery*c.since
	}
	c.noLoad, c.known, c.since = noLoad, 1, 0
}
