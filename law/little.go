package law

import "time"

// Little computes the limit from Little's law: work in flight is throughput times
// latency, so a server that can do P a second, at a latency of R0 when nothing
// waits, needs P*R0 slots to be busy, and not more.
//
// Below its peak a server's latency stays at R0 and throughput follows the load; above it
// throughput stays at P and latency follows the load. So with the average latency R of a
// window, the no-load latency R0 and the peak throughput P,
//
//	n = P ((2+Alpha) R0 - R)
//
// Without a queue R is R0 and n is P*R0*(1+Alpha): the limit leaves room of Alpha for more
// throughput to show. As a queue builds, R rises and n falls. At the peak, where n = P*R, the
// two meet at R = (1+Alpha/2) R0: the law keeps that queue on any server. It never goes below
// Floor*P*R0, and does not fall while R is below (1+Alpha/2) R0: there a limit is above n
// only because it is not filled.
//
// # Measurements
//
// R and P come from windows that close after MaxSamples, and after far fewer
// while the limit still grows from its start. R is the work in flight over the
// throughput.
//
// R0 follows falls: a lower R moves it the share EMA of the way, less if the
// window has fewer than MaxSamples, so that one lucky window does not halve it.
// A rise looks like a queue, so every Remeasure the limit is lowered to the share Probe of
// itself or, if less, of P*R0. It gets twice the latency R to drain, and R0 becomes the
// latency of one window. The limit is restored at once. A limit that was not used makes no
// queue; there R0 is measured without lowering it. If R0 has risen by more than Alpha, the
// work has changed, and P is forgotten too. If it has fallen by as much, it contained a
// queue, and the next window is followed by another probe.
//
// P rises at once, and falls by a tenth of EMA, and only while the limit is used: less
// throughput seldom means less capacity.
//
// # The cost of a probe
//
// A probe that takes p seconds, every d seconds, loses at most (1-Probe)*p/d of
// the traffic, and d is at least 20 p unless the probes find less each time.
// The decisions with the reason [Probing] and [Rebased] say when one began and
// ended, and refused_probing in a simulation's score is the share of attempts
// refused between them. With
//
//	weir sim suite --named --law little --law 'little(remeasure=1000h)' --seeds 2 --seed 31 --summary --json
//
// that is 2.2%. In a steady overload probing costs 0.4 to 1.6 points of goodput, and 6 and 14
// if throughput falls beyond a peak ("usl-2x", "kata-2x"). Without it work that became slower
// stays refused: the mean over all scenarios is 94.4% with it and 92.3% without.
//
// # When to use it
//
// It suits a service whose work is of one kind: it finds the limit in a few windows
// from anywhere below it and needs no target. Noise of the latency is averaged
// over a window before it counts, and without load it moves nothing.
//
// It fails if a maximum does not measure the capacity: P is the maximum of noisy windows, too
// high when latency has a heavy tail and the windows are short, and noise lowers R0 in
// between. Work that becomes slower costs up to a Remeasure of goodput. Inside an overload R0
// is measured with a queue in it, and each probe leaves the share Probe of that.
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

	// Floor is the least share of the no-load concurrency that is left however slow work
	// gets, from 0 to 1. Defaults to 1.
	Floor float64

	// Remeasure is how often the no-load latency is measured anew. Defaults
	// to 10 s.
	Remeasure time.Duration

	// Probe is the share of the no-load concurrency admitted meanwhile: from 0 to less than
	// 1. Defaults to 0.5.
	Probe float64

	// MinSamples is the least number of samples for a decision. 0 means the limiter's own.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and one for each slot.
	// Defaults to 200.
	MaxSamples int
}

const (
	// slower is the factor by which the peak falls slower than the no-load latency.
	slower = 10
	// rampSamples closes the windows of a ramp.
	rampSamples = 25
	// probeEvery bounds the share of the time that probes take to one in this many.
	probeEvery = 20
)

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (l Little) Controller(Bounds) (Controller, error) {
	complete, err := l.complete()
	if err != nil {
		return nil, err
	}
	return &littleController{Little: complete}, nil
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

func (l Little) complete() (Little, error) {
	err := l.form().complete()
	return l, err
}
