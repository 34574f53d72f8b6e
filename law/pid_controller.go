package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/pid"
)

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
	enough, now := enough(c.MinSamples, w), c.signal(w)
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
	return c.step(w, from, now)
}

func (c *pidController) signal(w Window) time.Duration {
	if c.Signal == EWMA {
		return w.EWMA
	}
	return w.Quantile(c.Quantile)
}

// step lets the loop move the limit. The loop continues from the limit that was applied, even
// if something else moved it.
func (c *pidController) step(w Window, from float64, now time.Duration) (float64, Reason) {
	c.follow(w, from)
	to := portable.Exp(c.loop.Update(portable.Log(now.Seconds()), w.Elapsed))
	signal := c.Signal
	if signal == NoSignal {
		signal = quantile(c.Quantile)
	}
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
