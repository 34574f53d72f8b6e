package throttle

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pid"
)

// A LoadLaw derives from the load the rate at which operations may start, or the number of
// operations that may run: [LoadPID], [DrainRate] or [Concurrency]. It is a plain value and may
// serve several throttles.
type LoadLaw interface {
	// start returns the state of the law, nil if it has none, or an error that matches ErrConfig
	// and names a setting below the field, where the law is.
	start(field string) (controller, error)
}

// A controller is a law at work. It is not safe for concurrent use.
type controller interface {
	// next returns the rate that the law asks for, in cost per second, 0 for no bound.
	next(s signals) float64
	// resume restarts the law from the rate of another law, 0 for no bound, and from a flow.
	resume(rate, flow float64)
}

type signals struct {
	dt   time.Duration // since the last decision
	load float64       // finite, 0 or more
	cost float64       // admitted since the last decision
	flow float64       // cost per second, smoothed

	drain *load.Drain // the last drain, nil if there is none or it is stale
}

// stricter returns the rate that satisfies both bounds, in cost per second; 0 is no bound.
func stricter(a, b float64) float64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

type sideLaws struct {
	all      []controller
	fallback *pidLaw // decides while signals are missing
	bound    bool    // one of them is a Concurrency
	drain    bool    // one of them is a DrainRate
}

// startLaws starts the laws of a side. The field is the name of the side in errors.
func startLaws(op Op, field string, laws []LoadLaw, m *load.Monitor) (s sideLaws, err error) {
	fallback := [ops]LoadLaw{Read: readPID, Write: writePID}[op]
	chosen := false
	for i, l := range laws {
		at := fmt.Sprintf("%s.Laws[%d]", field, i)
		switch l.(type) {
		case LoadPID:
			if !chosen {
				fallback, chosen = l, true
			}
		case Concurrency:
			s.bound = true
		case DrainRate:
			s.drain = true
			if m == nil || !m.TellsDrain() {
				return s, invalid(at, "DrainRate", "a Monitor with a source that reports a drain, a load.Drainer")
			}
		default: // such as a pointer to a law, which has the same methods
			return s, invalid(at, fmt.Sprintf("%T", l), "a LoadPID, DrainRate or Concurrency")
		}
		started, err := l.start(at)
		if err != nil {
			return s, err
		}
		if started != nil {
			s.all = append(s.all, started)
		}
	}
	started, err := fallback.start(field)
	if err != nil {
		return s, err
	}
	s.fallback = started.(*pidLaw)
	return s, nil
}

// next returns the strictest rate of the laws or, while signals are missing, the rate of the
// fallback.
func (s *sideLaws) next(in signals, degraded bool) (rate float64) {
	if degraded {
		return s.fallback.next(in)
	}
	for _, l := range s.all {
		rate = stricter(rate, l.next(in))
	}
	return rate
}

// resume lets the laws continue from a pace.
func (s *sideLaws) resume(rate, flow float64) {
	s.fallback.resume(rate, flow)
	for _, l := range s.all {
		l.resume(rate, flow)
	}
}

// alarm reports whether a feed can begin an emergency. Readings that a Concurrency brings down
// cannot, nor the inputs of a DrainRate: these laws handle them.
func (s *sideLaws) alarm(f load.FeedSnapshot) bool {
	handled := s.bound && f.Actuator == load.ByConcurrency || s.drain && f.Drains
	return !handled
}

// terms returns the terms of the PID that decides, zero if no PID decides.
func (s *sideLaws) terms(degraded bool) pid.Snapshot {
	if degraded {
		return s.fallback.loop.Snapshot()
	}
	for _, l := range s.all {
		if p, ok := l.(*pidLaw); ok {
			return p.loop.Snapshot()
		}
	}
	return pid.Snapshot{}
}

// share returns the part of its way that a first-order lag covers within dt.
func share(dt, tau time.Duration) float64 {
	if tau <= 0 {
		return 1
	}
	return -math.Expm1(-dt.Seconds() / tau.Seconds())
}
