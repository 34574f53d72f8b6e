package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/pid"
)

// PID holds a latency at a target with a PID controller, see
// [github.com/weir-go/weir/pid]. Its output is the limit.
//
// The controller works on logarithms: its error is ln(Target/s), for the signal s, and its output
// ln(n), for the limit n. Once a server has no slot free, work in flight is throughput times
// latency, so 1% more limit is 1% more latency, on a server of any size: on this scale the gain of
// the plant is 1, and gains that suit one server suit other servers. With windows of dt the limit
// thus leads to
//
//	ln n = Kp e + Ki (sum of e dt) - Kd d(filtered ln s)/dt,  e = ln(Target/s)
//
// and a signal of k times the target comes down to the target within a few times 1/Ki. The loop is
// stable as long as 2 Kp + Ki dt is less than 2, where dt counts for at most MaxStep. The bounds of
// the limit are the limits of the output, with anti-windup. A limit that is not used is not raised,
// and the controller tracks it.
//
// It suits a service with a latency objective, as [Band] does, and is smoother: its moves are
// proportional to the error, and it comes to rest at the target.
//
// It fails as every law with an absolute target does: if the work itself comes near the target, the
// limit falls to the minimum and stays. If latency barely depends on the limit, the limit climbs
// until latency depends on it. It keeps a queue in the server whose wait is Target minus the
// latency without load, however long that wait is. A high quantile of a short window is noise,
// which Kp and still more Kd pass on. Latency is measured on successes: if slow work is cut off by
// a timeout, set MaxErrorRate.
//
// Source: K. J. Åström, T. Hägglund: PID Controllers: Theory, Design, and
// Tuning, 1995. Uber's Cinnamon sheds load by such a controller.
type PID struct {
	// Target is the target of the signal. Defaults to 100 ms.
	Target time.Duration

	// Signal is the signal held to Target. Defaults to the Quantile of the latency. EWMA is
	// the moving average of the latency.
	Signal Signal

	// Quantile is the quantile of the latency for Signal, from 0 to less than 1. Defaults to
	// 0.95.
	Quantile float64

	// Kp, Ki (per second) and Kd (in seconds) are the gains of the error, its
	// integral and its derivative. If all are 0 they are 0.3, 1 and 0.
	Kp, Ki, Kd float64

	// Tau is the time constant of the filter before the derivative. Defaults
	// to 200 ms.
	Tau time.Duration

	// MaxStep is the longest time that one window counts for. Defaults to
	// 1 s.
	MaxStep time.Duration

	// MaxErrorRate bounds the share of work that fails or times out, from 0
	// to less than 1: above it the limit is lowered by a tenth. 0 means no
	// bound.
	MaxErrorRate float64

	// MinSamples is the least number of samples for a decision. 0 means the MinSamples of the
	// limiter.
	MinSamples int

	// MaxSamples closes a window early, once it has this many samples and four for each slot: the
	// first round trips alone show only the quick work. Defaults to 100.
	MaxSamples int
}

const (
	// roundTrips is the number of samples for each slot that shows a quantile.
	roundTrips = 4
	// errorBackoff is the share of the limit left by a window with too many errors.
	errorBackoff = 0.9
)

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (p PID) Controller(b Bounds) (Controller, error) {
	complete, err := completed(p)
	if err != nil {
		return nil, err
	}
	loop, err := pid.New(complete.loop(b.Min, b.Max))
	if err != nil {
		return nil, err
	}
	loop.Reset(portable.Log(float64(b.Initial)))
	return &pidController{PID: complete, loop: loop, min: b.Min, max: b.Max}, nil
}

// loop returns the settings of the controller for limits from low to high. A trace of room is left
// above high, because low and high may be equal.
func (p PID) loop(low, high int) pid.Config {
	return pid.Config{
		Kp: p.Kp, Ki: p.Ki, Kd: p.Kd, Tau: p.Tau, MaxStep: p.MaxStep,
		Setpoint: portable.Log(p.Target.Seconds()),
		Min:      portable.Log(float64(low)), Max: portable.Log(float64(high)) + rounding,
	}
}

// String returns the text form, with the settings that are not zero: for example
// "pid(target=200ms,ki=0.5)". [Parse] reads it.
func (p PID) String() string { return p.form().String() }

func (p *PID) form() form {
	return form{name: "pid", settings: []setting{
		{"target", number[time.Duration]{field: &p.Target, preset: 100 * time.Millisecond}},
		{"signal", choice[Signal]{&p.Signal, bandSignals[:2]}},
		{"quantile", number[float64]{field: &p.Quantile, preset: 0.95, below: 1}},
		{"kp", number[float64]{field: &p.Kp}},
		{"ki", number[float64]{field: &p.Ki}},
		{"kd", number[float64]{field: &p.Kd}},
		{"tau", number[time.Duration]{field: &p.Tau, preset: 200 * time.Millisecond}},
		{"max_step", number[time.Duration]{field: &p.MaxStep, preset: time.Second}},
		{"max_error_rate", number[float64]{field: &p.MaxErrorRate, unset: noBound, below: 1}},
		{"min_samples", number[int]{field: &p.MinSamples, unset: ofLimiter}},
		{"max_samples", number[int]{field: &p.MaxSamples, preset: earlySamples}},
	}, last: func() string {
		if p.Kp == 0 && p.Ki == 0 && p.Kd == 0 {
			// The integral settles within a second, where a window of a second is still stable; the
			// proportional term only has to keep up with it.
			p.Kp, p.Ki = 0.3, 1
		}
		return ""
	}}
}

type pidController struct {
	PID
	loop     *pid.Controller
	limit    estimate
	min, max int // the limits of the loop
}

// Retune takes new settings. The limit continues from its current value.
func (c *pidController) Retune(l Law) bool {
	if !retuned(&c.PID, l) {
		return false
	}
	return c.loop.Retune(c.PID.loop(c.min, c.max)) == nil
}

func (c *pidController) Next(w Window) Decision {
	from := c.limit.at(w)
	to, reason := c.judge(w, from)
	d := Decision{Limit: c.limit.move(to, w), Reason: reason}
	d.Next = fresh(w, c.MinSamples, c.MaxSamples, roundTrips*d.Limit)
	return d
}

func (c *pidController) judge(w Window, from float64) (float64, Reason) {
	enough := enough(c.MinSamples, w)
	signal, now := measured(c.Signal, c.Quantile, w)
	switch {
	case w.Completed() == 0:
		return from, Reason{}
	case failing(w, enough):
		return halved(w)
	case c.MaxErrorRate > 0 && w.Completed() >= enough && w.ErrorRate() > c.MaxErrorRate:
		return from * errorBackoff, Reason{Above, Errors, w.ErrorRate(), c.MaxErrorRate}
	case w.Samples < enough || now <= 0 || w.Elapsed <= 0:
		return from, tooFew(w, enough)
	}
	return c.step(w, from, signal, now)
}

// step lets the loop move the limit. The loop continues from the limit that was applied, even
// if something else moved it.
func (c *pidController) step(w Window, from float64, signal Signal, now time.Duration) (float64, Reason) {
	c.follow(w, from)
	to := portable.Exp(c.loop.Update(portable.Log(now.Seconds()), w.Elapsed))
	have, want := now.Seconds(), c.Target.Seconds()
	if to > from && !w.Used() {
		c.loop.Track(portable.Log(from))
		return from, Reason{Unused, signal, have, want}
	}
	return to, lean(signal, have, want, whole(from), whole(to))
}

// follow passes a changed limit or changed bounds to the loop.
func (c *pidController) follow(w Window, from float64) {
	if (w.Min != c.min || w.Max != c.max) && c.loop.Retune(c.PID.loop(w.Min, w.Max)) == nil {
		c.min, c.max = w.Min, w.Max
	}
	if at := portable.Log(from); math.Abs(at-c.loop.Snapshot().Output) > 2*rounding {
		c.loop.Track(at)
	}
}
