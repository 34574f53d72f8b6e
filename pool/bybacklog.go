package pool

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// ByBacklog is a [Scaler] that steps up while more tasks than High wait to start, and
// down while fewer than Low do. The gap between the marks keeps it from
// flapping. The zero ByBacklog works; 0 always means the default.
type ByBacklog struct {
	// High is the backlog above which the size rises. Defaults to 10.
	High int64
	// Low is the backlog below which the size falls, below High. Defaults to two
	// fifths of High.
	Low int64

	// Min and Max bound the size. Default to 1 and the size of the resource. Initial is
	// the size to start from. Defaults to Min.
	Min, Max, Initial int64

	// Step is the amount by which the size moves at once, in units of the resource. Defaults to 1.
	Step int64
	// Per, if set, adds a Step for each Per tasks above High.
	Per int64

	// Period is the time from one decision to the next. Defaults to 1 s.
	Period time.Duration
	// Cooldown is the least time from one change to the next. Defaults to 0: then only the Period
	// delays a change.
	Cooldown time.Duration
}

// Sizer implements [Scaler].
func (b ByBacklog) Sizer(limit int64) (Sizer, error) {
	invalid := func(field string, value any, want string) error { return invalid("ByBacklog."+field, value, want) }
	if b.High < 0 {
		return nil, invalid("High", b.High, "0 (the default, 10) or more")
	}
	b.High = cmp.Or(b.High, 10)
	low := cmp.Or(float64(b.Low), 0.4*float64(b.High)) // 0 tasks are below 0.4
	if b.Low < 0 || b.Low >= b.High {
		return nil, invalid("Low", b.Low, fmt.Sprintf("0 (the default) or less than High, which is %d", b.High))
	}
	if b.Per < 0 {
		return nil, invalid("Per", b.Per, "0 (none) or more")
	}
	stepper, err := newStepper("ByBacklog", limit, Plan{b.Initial, b.Min, b.Max, b.Period}, b.Step, b.Cooldown)
	if err != nil {
		return nil, err
	}
	return &markSizer{stepper, float64(b.High), low, float64(b.Per), backlog}, nil
}

// backlog returns the number of tasks that wait to start.
func backlog(d Depth) Reason { return Reason{Signal: "backlog", Have: float64(d.Count)} }

// ByAge is a [Scaler] that steps up while the oldest task has waited for longer than High, and down
// while it has waited for less than Low, or while no task waits. While the age is unknown the size
// stays. The zero ByAge works; 0 always means the default.
type ByAge struct {
	// High is the wait above which the size rises. Defaults to 10 s.
	High time.Duration
	// Low is the wait below which the size falls, below High. Defaults to two fifths of High.
	Low time.Duration

	// Per, if set, adds a Step for each Per of wait above High.
	Per time.Duration

	// Min, Max, Initial, Step, Period and Cooldown are as in [ByBacklog].
	Min, Max, Initial, Step int64
	Period, Cooldown        time.Duration
}

// Sizer implements [Scaler].
func (a ByAge) Sizer(limit int64) (Sizer, error) {
	invalid := func(field string, value any, want string) error { return invalid("ByAge."+field, value, want) }
	a.High = cmp.Or(a.High, 10*time.Second)
	a.Low = cmp.Or(a.Low, a.High/5*2)
	switch {
	case a.High < 0 || a.High > maxLong:
		return nil, invalid("High", a.High, fmt.Sprintf("0 (the default, 10s) to %v", maxLong))
	case a.Low < 0 || a.Low >= a.High:
		return nil, invalid("Low", a.Low, fmt.Sprintf("0 (the default) or less than High, which is %v", a.High))
	case a.Per < 0:
		return nil, invalid("Per", a.Per, "0 (none) or more")
	}
	stepper, err := newStepper("ByAge", limit, Plan{a.Initial, a.Min, a.Max, a.Period}, a.Step, a.Cooldown)
	if err != nil {
		return nil, err
	}
	return &markSizer{stepper, a.High.Seconds(), a.Low.Seconds(), a.Per.Seconds(), a.age}, nil
}

// age returns how long the oldest task has waited. If the source does not know it, the tasks in the
// pool are known to have waited for longer than High, or the age is unknown.
func (a ByAge) age(d Depth) Reason {
	if d.Count > 0 && d.Oldest <= 0 || d.least && d.Oldest <= a.High {
		return Reason{Code: Unknown, Signal: "age of the oldest task"}
	}
	return Reason{Signal: "oldest task waits", Have: d.Oldest.Seconds(), Unit: "s"}
}

// A markSizer steps up while a signal of the backlog is above its high mark, and down while it is
// below its low mark.
type markSizer struct {
	stepper
	high, low float64
	per       float64 // the amount above high that adds a step; 0 adds none
	signal    func(Depth) Reason
}

// Next implements [Sizer].
func (s *markSizer) Next(r Observation) (int64, Reason) {
	why := s.signal(r.Backlog)
	switch {
	case why.Code == Unknown:
		return r.Size, why
	case why.Have > s.high && r.Running > 0 && r.Wanted > 0 && r.InUse+r.Wanted <= r.Size:
		why.Code = Unused
		if rest := r.Size - r.InUse - r.Wanted; rest > 0 {
			return s.step(r, -rest, why) // other work may use the rest
		}
		return r.Size, why
	case why.Have > s.high:
		why.Code, why.Want = Above, s.high
		return s.step(r, s.up(why.Have-s.high), why)
	case why.Have < s.low:
		why.Code, why.Want = Below, s.low
		return s.step(r, -s.by, why)
	}
	why.Code = Within
	return r.Size, why
}

// up returns the step for a signal above the mark by the given amount.
func (s *markSizer) up(above float64) int64 {
	if s.per == 0 {
		return s.by
	}
	steps := math.Floor(above/s.per) + 1
	return int64(min(steps*float64(s.by), float64(s.plan.Max)))
}
