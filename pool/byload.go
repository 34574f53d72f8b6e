package pool

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// ByLoad is a [Scaler] that keeps a signal from outside between two marks: it steps down while
// the signal is above High, up while it is below Low and tasks wait. While the signal is unknown it
// steps down to Initial and stays there.
type ByLoad struct {
	// Measure returns the signal as it is known now, and whether that is valid. It must
	// not block. For a load.Monitor it is
	//
	//	func() (float64, bool) { l := mon.Level(load.All); return l.Load, l.Valid && !l.Degraded }
	//
	// Any other number will do too, such as the depth of a broker's queue or the load of the CPU.
	Measure func() (value float64, valid bool)

	// Signal names the signal in reasons, such as "cpu". Defaults to "load".
	Signal string

	// High and Low are the marks. Default to 0.85 and 0.7 of High.
	High, Low float64

	// Min and Max bound the size. Default to 1 and the size of the resource. Initial is
	// the size to start from. Defaults to Min.
	Min, Max, Initial int64

	// Step is the amount by which the size moves at once. Defaults to 1.
	Step int64

	// Period and Cooldown are as in [ByBacklog].
	Period, Cooldown time.Duration
}

// Sizer implements [Scaler].
func (l ByLoad) Sizer(limit int64) (Sizer, error) {
	if l.Measure == nil {
		return nil, invalid("ByLoad.Measure", "nil", "a function")
	}
	l.High = cmp.Or(l.High, 0.85)
	l.Low = cmp.Or(l.Low, 0.7*l.High)
	if !(l.Low > 0 && l.Low < l.High) || math.IsInf(l.High, 0) {
		return nil, fmt.Errorf("%w: ByLoad.Low and ByLoad.High are %v and %v: want above 0, finite, and Low below High",
			ErrConfig, l.Low, l.High)
	}
	stepper, err := newStepper("ByLoad", limit, Plan{l.Initial, l.Min, l.Max, l.Period}, l.Step, l.Cooldown)
	if err != nil {
		return nil, err
	}
	return &loadSizer{stepper, l.Measure, cmp.Or(l.Signal, "load"), l.High, l.Low}, nil
}

type loadSizer struct {
	stepper
	measure   func() (float64, bool)
	signal    string
	high, low float64
}

// Next implements [Sizer].
func (s *loadSizer) Next(r Observation) (int64, Reason) {
	value, valid := s.measure()
	why := Reason{Code: Within, Signal: s.signal, Have: value}
	switch {
	case !valid || math.IsNaN(value):
		why = Reason{Code: Unknown, Signal: s.signal}
		if r.Size > s.plan.Initial {
			size, _ := s.step(r, -min(s.by, r.Size-s.plan.Initial), why)
			return size, why
		}
	case value > s.high:
		why.Code, why.Want = Above, s.high
		return s.step(r, -s.by, why)
	case value < s.low && r.Backlog.Count > 0:
		why.Code, why.Want = Below, s.low
		return s.step(r, s.by, why)
	}
	return r.Size, why
}
