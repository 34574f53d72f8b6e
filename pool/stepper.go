package pool

import (
	"cmp"
	"fmt"
	"time"
)

// complete fills in the defaults of the plan of a named scaler.
func (p Plan) complete(name string, limit int64) (Plan, error) {
	invalid := func(field string, value any, want string) error { return invalid(name+"."+field, value, want) }
	p.Max = cmp.Or(p.Max, limit)
	if p.Max < 0 || p.Max > limit {
		return p, invalid("Max", p.Max, fmt.Sprintf("0 (the default) or up to the limit, which is %d", limit))
	}
	p.Min = cmp.Or(p.Min, min(1, p.Max))
	if p.Min < 0 || p.Min > p.Max {
		return p, invalid("Min", p.Min, fmt.Sprintf("0 (the default, 1) or up to Max, which is %d", p.Max))
	}
	p.Initial = cmp.Or(p.Initial, p.Min)
	if p.Initial < p.Min || p.Initial > p.Max {
		return p, invalid("Initial", p.Initial, fmt.Sprintf("from Min to Max, which are %d and %d", p.Min, p.Max))
	}
	p.Period = cmp.Or(p.Period, time.Second)
	if p.Period < 0 {
		return p, invalid("Period", p.Period, "0 (the default, 1s) or more")
	}
	return p, nil
}

// A stepper moves a size by steps within the bounds of its plan, no sooner than a cooldown after
// the last change. [ByBacklog] and [ByLoad] share it.
type stepper struct {
	plan     Plan
	by       int64
	cooldown time.Duration

	last  time.Duration // of the last change
	moved bool
}

// newStepper returns the stepper of a named scaler, with the defaults filled in.
func newStepper(name string, limit int64, p Plan, by int64, cooldown time.Duration) (s stepper, err error) {
	if by < 0 || by > limit {
		return s, invalid(name+".Step", by, fmt.Sprintf("0 (the default, 1) or up to the limit, which is %d", limit))
	}
	if p, err = p.complete(name, limit); err != nil {
		return s, err
	}
	if cooldown < 0 {
		return s, invalid(name+".Cooldown", cooldown, "0 (none) or more")
	}
	return stepper{plan: p, by: cmp.Or(by, 1), cooldown: cooldown}, nil
}

// Plan implements [Sizer].
func (s *stepper) Plan() Plan { return s.plan }

// step decides how a size moves by a signal that calls for a change.
func (s *stepper) step(r Observation, by int64, why Reason) (int64, Reason) {
	size := min(max(r.Size+by, s.plan.Min), s.plan.Max)
	switch {
	case by > 0 && size <= r.Size, by < 0 && size >= r.Size:
		why.Code = AtBound
		return r.Size, why
	case s.moved && r.Elapsed-s.last < s.cooldown:
		why.Code = Cooling
		return r.Size, why
	}
	s.last, s.moved = r.Elapsed, true
	return size, why
}
