package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
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
	// and any other number will do: the depth of a broker's queue, the CPU.
	Measure func() (value float64, valid bool)

	// High and Low are the marks. Default to 0.85 and 0.7 of High.
	High, Low float64

	// Min and Max bound the size. Default to 1 and the size of the resource. Initial is
	// the size to start from. Defaults to Min.
	Min, Max, Initial int64

	// Step is how much the size moves at a time. Defaults to 1.
	Step int64

	// Period and Cooldown are as in [ByBacklog].
	Period, Cooldown time.Duration
}

// Sizer implements [Scaler].
func (l ByLoad) Sizer(limit int64) (Sizer, error) {
	if l.Measure == nil {
		return nil, fmt.Errorf("%w: ByLoad.Measure is nil: want a function", ErrConfig)
	}
	if l.High == 0 {
		l.High = 0.85
	}
	if l.Low == 0 {
		l.Low = 0.7 * l.High
	}
	if !(l.Low > 0 && l.Low < l.High) || math.IsInf(l.High, 0) {
		return nil, fmt.Errorf("%w: ByLoad.Low and ByLoad.High are %v and %v: want above 0, finite, and Low below High",
			ErrConfig, l.Low, l.High)
	}
	if l.Step < 0 || l.Step > limit {
		return nil, fmt.Errorf("%w: ByLoad.Step is %d: want 0 (the default, 1) or up to the limit, which is %d",
			ErrConfig, l.Step, limit)
	}
	if l.Step == 0 {
		l.Step = 1
	}
	bounds, err := bounds{Plan{l.Initial, l.Min, l.Max, l.Period}, l.Cooldown}.check("ByLoad", limit)
	if err != nil {
		return nil, err
	}
	return &loadSizer{stepper{bounds: bounds, signal: "load"}, l}, nil
}

type loadSizer struct {
	stepper
	ByLoad
}

// Next implements [Sizer].
func (s *loadSizer) Next(r Observation) (int64, Reason) {
	value, valid := s.Measure()
	why := Reason{Code: Within, Signal: s.signal, Have: value}
	switch {
	case !valid || math.IsNaN(value):
		why = Reason{Code: Unknown, Signal: s.signal}
		if r.Size > s.stepper.Initial {
			size, _ := s.step(r, -min(s.Step, r.Size-s.stepper.Initial), why)
			return size, why
		}
	case value > s.High:
		why.Code, why.Want = Above, s.High
		return s.step(r, -s.Step, why)
	case value < s.Low && r.Backlog.Count > 0:
		why.Code, why.Want = Below, s.Low
		return s.step(r, s.Step, why)
	}
	return r.Size, why
}

// ByLaw is a [Scaler] whose size a control law finds by the latency of the tasks, as a
// weir.Limiter's limit is. It measures the attempts that the pool runs.
type ByLaw struct {
	// Law finds the size. Defaults to law.Setpoint{}.
	Law law.Law

	// Min and Max bound how many tasks run at once. Default to 1 and what the resource
	// has of Units. Initial is how many to start from. Defaults to 4 with law.Setpoint, as in a
	// weir.Limiter, and to Min with other laws.
	Min, Max, Initial int64

	// Units is how much of the resource a task takes. Defaults to 1.
	Units int64

	// Interval, Window and MinSamples are as in weir.Config. Default to 1 s, 10 s
	// and 20. law.Setpoint plans its own windows and ignores them.
	Interval, Window time.Duration
	MinSamples       int
}

// Sizer implements [Scaler].
func (l ByLaw) Sizer(limit int64) (Sizer, error) {
	if l.Law == nil {
		l.Law = law.Setpoint{}
	}
	if l.Units == 0 {
		l.Units = 1
	}
	if l.Units < 0 || l.Units > limit {
		return nil, fmt.Errorf("%w: ByLaw.Units is %d: want 0 (the default, 1) or up to the limit, which is %d",
			ErrConfig, l.Units, limit)
	}
	most := min(limit/l.Units, math.MaxInt32/2)
	if s, ok := l.Law.(law.Setpoint); ok && l.Initial == 0 {
		l.Initial = min(max(int64(s.Start()), l.Min), cmp.Or(l.Max, most))
	}
	b, err := bounds{Plan: Plan{l.Initial, l.Min, l.Max, l.Interval}}.check("ByLaw", most)
	if err != nil {
		return nil, err
	}
	shared := settings.Limiter{Interval: b.Period, Window: l.Window, MinSamples: l.MinSamples}.Complete()
	l.Window, l.MinSamples = shared.Window, shared.MinSamples
	if l.Window < b.Period || l.MinSamples < 0 {
		return nil, fmt.Errorf("%w: ByLaw.Window and ByLaw.MinSamples are %v and %d: "+
			"want at least Interval, and 0 (the default) or more", ErrConfig, l.Window, l.MinSamples)
	}
	if b.Min < 1 {
		return nil, fmt.Errorf("%w: ByLaw.Max is %d: want a resource of which there is any", ErrConfig, b.Max)
	}
	s := &lawSizer{shield: shield{law: l.Law}, plan: b.Plan, units: l.Units}
	err = s.node.Init(admit.Settings{
		Bounds:   law.Bounds{Min: int(b.Min), Max: int(b.Max), Initial: int(b.Initial)},
		Interval: b.Period, Lookback: l.Window, MinSamples: l.MinSamples,
		Wall: time.Now, // law.Setpoint probes at ticks of it, with the limiters of the same server
	}, &s.shield, nil, int64(now()))
	if err == nil {
		err = s.failure()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return s, nil
}

// A lawSizer measures every attempt.
type lawSizer struct {
	shield
	plan  Plan
	units int64
	node  admit.Node
}

// Plan implements [Sizer].
func (s *lawSizer) Plan() Plan {
	return Plan{s.plan.Initial * s.units, s.plan.Min * s.units, s.plan.Max * s.units, min(s.plan.Period, lawPeriod)}
}

// lawPeriod is how often a law's word is looked for: its windows close when they are full,
// which may be much sooner than its interval.
const lawPeriod = 100 * time.Millisecond

// Next implements [Sizer].
func (s *lawSizer) Next(Observation) (int64, Reason) {
	state := s.node.State(int64(now()))
	why := Reason{Code: LawDecided, Law: state.Decided}
	if state.Decided == (law.Reason{}) { // it has not decided yet
		why = Reason{Code: Unknown, Signal: "latency"}
	}
	return int64(state.Limit) * s.units, why
}

func (s *lawSizer) started(at time.Duration) reply.Ticket {
	var fx admit.Effects // nothing waits here, and the shield has a law's panic
	var ticket reply.Ticket
	s.node.TryAcquire(&ticket, admit.Work{Weight: 1}, int64(at), &fx)
	return ticket
}

// wanted notes that a task could not start for want of the resource: the limit is used.
func (s *lawSizer) wanted(at time.Duration) {
	var fx admit.Effects
	var ticket reply.Ticket
	if verdict := s.node.TryAcquire(&ticket, admit.Work{Weight: 1}, int64(at), &fx); verdict == reply.Admitted {
		s.ended(ticket, at, window.Ignore) // another resource is short
	}
}

func (s *lawSizer) ended(t reply.Ticket, at time.Duration, o window.Outcome) {
	var fx admit.Effects
	s.node.Done(t, int64(at), o, &fx)
}

// ByLatency is a [Scaler] that holds the p95 of how long an attempt takes near a target: the
// size falls to 0.7 of itself while it is above, and rises by 1 while it is below and the size is
// used.
type ByLatency struct {
	// Target is the latency to hold. It must be set.
	Target time.Duration
	// Tolerance is how far from the target is near. Defaults to 0.15.
	Tolerance float64

	// Min, Max and Initial are as in [ByLaw].
	Min, Max, Initial int64

	// Period is from one decision to the next. Defaults to 1 s.
	Period time.Duration
}

// Sizer implements [Scaler].
func (l ByLatency) Sizer(limit int64) (Sizer, error) {
	if l.Target <= 0 {
		return nil, fmt.Errorf("%w: ByLatency.Target is %v: want more than 0", ErrConfig, l.Target)
	}
	return ByLaw{
		Law: law.Band{Target: l.Target, Tolerance: l.Tolerance},
		Min: l.Min, Max: l.Max, Initial: l.Initial, Interval: l.Period,
	}.Sizer(limit)
}

// MinOf combines scalers of one resource: of the sizes that they decide on, the least
// holds. They are asked as often as the quickest of them.
type MinOf []Scaler

// Sizer implements [Scaler].
func (c MinOf) Sizer(limit int64) (Sizer, error) {
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: MinOf is empty: want at least one scaler", ErrConfig)
	}
	all := make(minSizer, len(c))
	for i, scaler := range c {
		if scaler == nil {
			return nil, fmt.Errorf("%w: MinOf[%d] is nil: want a scaler", ErrConfig, i)
		}
		var err error
		if all[i], err = scaler.Sizer(limit); err != nil {
			return nil, err
		}
		if all[i] == nil {
			return nil, fmt.Errorf("%w: MinOf[%d] returned no Sizer and no error: want one", ErrConfig, i)
		}
	}
	return all, nil
}

type minSizer []Sizer

// Plan implements [Sizer].
func (c minSizer) Plan() Plan {
	least := c[0].Plan()
	for _, s := range c[1:] {
		p := s.Plan()
		least = Plan{
			Initial: min(least.Initial, p.Initial),
			Min:     min(least.Min, p.Min),
			Max:     min(least.Max, p.Max),
			Period:  min(least.Period, p.Period),
		}
	}
	return least
}

// Next implements [Sizer].
func (c minSizer) Next(r Observation) (least int64, why Reason) {
	for i, s := range c {
		if size, reason := s.Next(r); i == 0 || size < least {
			least, why = size, reason
		}
	}
	return least, why
}

// lawsOf are the sizers that want to hear of every attempt.
func lawsOf(s Sizer) (all []*lawSizer) {
	switch s := s.(type) {
	case *lawSizer:
		return []*lawSizer{s}
	case minSizer:
		for _, each := range s {
			all = append(all, lawsOf(each)...)
		}
	}
	return slices.Clip(all)
}
