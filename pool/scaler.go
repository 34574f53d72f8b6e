package pool

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/law"
)

// A Scaler sizes a resource: it finds the part of the limit that is given out, and the pool
// withholds the rest. It is a plain value whose fields are settings. One Scaler may size any number
// of resources, each by its own [Sizer].
//
// [ByBacklog], [ByAge], [ByLoad] and [ByLaw] are scalers; [MinOf] combines them.
type Scaler interface {
	// Sizer starts the scaler for a resource with that limit. A setting out of
	// range is an error that names it.
	Sizer(limit int64) (Sizer, error)
}

// A Sizer is a [Scaler] at work. Its pool calls it from one goroutine at a time. It must
// neither block nor read a clock.
type Sizer interface {
	// Plan returns the first size, the bounds of the size, and the time between decisions.
	Plan() Plan
	// Next returns the next size and the reason for it.
	Next(Observation) (size int64, why Reason)
}

// A Plan has the size to start from, the bounds of the size, and the time from one decision to the
// next.
type Plan struct {
	Initial, Min, Max int64         // in units of the resource
	Period            time.Duration // more than 0
}

// An Observation is the input of a [Sizer].
type Observation struct {
	Elapsed   time.Duration // since the run began
	Size      int64         // the size now; with [MinOf], the applied one
	InUse     int64         // the use of the resource, also by other work
	Backlog   Depth         // in the source and in the pool, without running tasks
	Wanted    int64         // the first ready task's need of the resource
	Running   int           // tasks of the pool that run
	Completed uint64        // tasks that succeeded so far
}

// A Decision is a size and why it was chosen.
type Decision struct {
	At        time.Time // when
	Resource  string    // its name
	From, To  int64     // the size before and after
	Most      int64     // the largest possible size; Most-To is the reserve
	Reason    Reason    // why
	Backlog   Depth     // the backlog at the decision
	Completed uint64    // tasks that had succeeded by then
}

// String returns a sentence such as "slots: backlog 24 above 10: raised 3 to 4".
func (d Decision) String() string {
	switch {
	case d.To > d.From:
		return fmt.Sprintf("%s: %v: raised %d to %d", d.Resource, d.Reason, d.From, d.To)
	case d.To < d.From:
		return fmt.Sprintf("%s: %v: cut %d to %d", d.Resource, d.Reason, d.From, d.To)
	}
	return fmt.Sprintf("%s: %v: held at %d", d.Resource, d.Reason, d.To)
}

// A Reason explains a decision by a signal and its target.
type Reason struct {
	Code   Code       // how the signal compares with the target
	Signal string     // the measured quantity: "backlog", "oldest task waits", "load", "cost"
	Have   float64    // the measured value,
	Want   float64    // and its target
	Unit   string     // of both; "" for a number
	Law    law.Reason // with LawDecided: the reason of the law
}

// A Code compares a signal with a scaler's target.
type Code uint8

// The codes.
const (
	NoReason   Code = 0
	Above      Code = 1 // the signal is above the high mark
	Below      Code = 2 // the signal is below the low mark
	Within     Code = 3 // the signal is between the marks
	Unused     Code = 4 // a rise is due, but not all of the size can be used: another resource is short
	Cooling    Code = 5 // a change is due, but the last change is too recent
	AtBound    Code = 6 // a change is due, but the size is at its bound
	Unknown    Code = 7 // there is no valid reading of the signal
	LawDecided Code = 8 // a law decided
	Room       Code = 9 // the first task needs more than the size, and no task runs
)

// String returns the reason as a phrase, such as "backlog 24 above 10".
func (r Reason) String() string {
	number := func(v float64) string {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'g', 4, 64)+" "+r.Unit, " ")
	}
	switch r.Code {
	case Above:
		return r.Signal + " " + number(r.Have) + " above " + number(r.Want)
	case Below:
		return r.Signal + " " + number(r.Have) + " below " + number(r.Want)
	case Within:
		return r.Signal + " " + number(r.Have) + " between the marks"
	case Unused:
		return r.Signal + " " + number(r.Have) + ", size not used"
	case Cooling:
		return r.Signal + " " + number(r.Have) + ", too soon after the last change"
	case AtBound:
		return r.Signal + " " + number(r.Have) + ", size at its bound"
	case Unknown:
		return r.Signal + " unknown"
	case LawDecided:
		return r.Law.String()
	case Room:
		return "a task needs " + number(r.Have)
	}
	return "no reason given"
}

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
	err := settings.Default(ErrConfig, name+".Period", &p.Period, time.Second)
	return p, err
}

// A stepper moves a size by steps within the bounds of its plan, no sooner than a cooldown after
// the last change. The scalers with marks share it.
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
