package throttle

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/load"
)

// A LoadLaw finds how fast operations may start, by the load, or how many may run: [PID],
// [DrainRate], [LinearRefusal] or [Concurrency]. It is a plain value and may serve several
// throttles.
type LoadLaw interface {
	// start returns the state of the law, or an error that matches ErrConfig and names a setting
	// below the field, where the law is.
	start(field string) (controller, error)
}

// A controller is a law at work. It is not safe for concurrent use.
type controller interface {
	next(s signals) demand
	// resume starts afresh from the demand of another law, the zero demand for none,
	// and a flow.
	resume(from demand, flow float64)
}

// signals are the inputs of a law.
type signals struct {
	dt   time.Duration // since the last decision
	load float64       // finite, 0 or more
	cost float64       // admitted since the last decision
	flow float64       // cost per second, smoothed
	now  demand        // in force at present

	drain load.Drain
	fresh bool // whether drain is new
}

// A demand is the output of a law. The zero demand asks for nothing.
type demand struct {
	rate   float64 // cost per second, 0 for no bound
	refuse float64 // share to refuse
}

// strictest returns a demand that satisfies both.
func (d demand) strictest(other demand) demand {
	d.refuse = max(d.refuse, other.refuse)
	if d.rate == 0 || other.rate > 0 && other.rate < d.rate {
		d.rate = other.rate
	}
	return d
}

// LinearRefusal refuses a share of the operations that rises from none at a load of
// Soft to all at Hard, with [weir.ErrOverload]. It is for callers that would
// prefer a refusal to a wait, and beside another law for the excess that pacing cannot hold.
type LinearRefusal struct {
	Soft float64 // load from which some are refused. Defaults to 0.9
	Hard float64 // load from which all are. Defaults to 1.1
}

func (l LinearRefusal) start(field string) (controller, error) {
	l.Soft, l.Hard = cmp.Or(l.Soft, 0.9), cmp.Or(l.Hard, 1.1)
	if !(l.Soft > 0) || math.IsInf(l.Soft, 1) {
		return nil, invalid(field+".Soft", l.Soft, "more than 0")
	}
	if !(l.Hard > l.Soft) || math.IsInf(l.Hard, 1) {
		return nil, invalid(field+".Hard", l.Hard, fmt.Sprintf("more than Soft, which is %v", l.Soft))
	}
	return l, nil
}

func (l LinearRefusal) next(s signals) demand {
	return demand{refuse: min(max((s.load-l.Soft)/(l.Hard-l.Soft), 0), 1)}
}

func (LinearRefusal) resume(demand, float64) {}

// share is how much of the way a first-order lag goes within dt.
func share(dt, tau time.Duration) float64 {
	if tau <= 0 {
		return 1
	}
	return -math.Expm1(-dt.Seconds() / tau.Seconds())
}
