package pool

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// ByLaw is a [Scaler] whose size a control law finds by the latency of the tasks, as it finds the
// limit of a weir.Limiter. ByLaw measures the attempts that the pool runs. It takes their errors as
// weir.Classify does: an error that matches weir.ErrRefused is a refusal by the downstream.
type ByLaw struct {
	// Law finds the size. Defaults to law.Setpoint{}.
	Law law.Law

	// Min and Max bound the number of tasks that run at once, each with 1 of the resource. Default
	// to 1 and the size of the resource. Initial is the number to start from. Defaults to 4 with
	// law.Setpoint, as in a weir.Limiter, and to Min with other laws.
	Min, Max, Initial int64

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
	most := min(limit, math.MaxInt32/2)
	if s, ok := l.Law.(law.Setpoint); ok && l.Initial == 0 {
		l.Initial = min(max(int64(s.Start()), l.Min), cmp.Or(l.Max, most))
	}
	p, err := Plan{l.Initial, l.Min, l.Max, l.Interval}.complete("ByLaw", most)
	if err != nil {
		return nil, err
	}
	shared := settings.Limiter{Interval: p.Period, Window: l.Window, MinSamples: l.MinSamples}.Complete()
	l.Window, l.MinSamples = shared.Window, shared.MinSamples
	if l.Window < p.Period || l.MinSamples < 0 || l.MinSamples > settings.MaxSlots {
		return nil, fmt.Errorf("%w: ByLaw.Window and ByLaw.MinSamples are %v and %d: "+
			"want at least Interval, and 0 (the default) to %d", ErrConfig, l.Window, l.MinSamples, settings.MaxSlots)
	}
	if p.Min < 1 {
		return nil, fmt.Errorf("%w: ByLaw.Max is %d: want a resource of which there is any", ErrConfig, p.Max)
	}
	s := &lawSizer{shield: shield{law: l.Law}, plan: p}
	err = s.node.Init(admit.Settings{
		Bounds:   law.Bounds{Min: int(p.Min), Max: int(p.Max), Initial: int(p.Initial)},
		Interval: p.Period, Lookback: l.Window, MinSamples: l.MinSamples,
		Wall: time.Now, // law.Setpoint probes at its ticks, with the limiters of the same server
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
	plan Plan
	node admit.Node
}

// Plan implements [Sizer].
func (s *lawSizer) Plan() Plan {
	return Plan{s.plan.Initial, s.plan.Min, s.plan.Max, min(s.plan.Period, lawPeriod)}
}

// lawPeriod is the longest time from one look at a law's limit to the next. The windows of a law
// close when they are full, which may be much sooner than its interval.
const lawPeriod = 100 * time.Millisecond

// Next implements [Sizer].
func (s *lawSizer) Next(Observation) (int64, Reason) {
	state := s.node.State(int64(now()))
	why := Reason{Code: LawDecided, Law: state.Decided}
	if state.Decided == (law.Reason{}) { // the law has not decided yet
		why = Reason{Code: Unknown, Signal: "latency"}
	}
	return int64(state.Limit), why
}

func (s *lawSizer) started(at time.Duration) reply.Ticket {
	var fx admit.Effects // it stays empty: no work waits here, and the shield catches a law's panic
	var ticket reply.Ticket
	s.node.Acquire(&ticket, admit.Work{Weight: 1, NoWait: true}, int64(at), &fx)
	return ticket
}

// wanted records that a task could not start because the resource was short, so that the law sees
// its limit as used.
func (s *lawSizer) wanted(at time.Duration) {
	var fx admit.Effects
	var ticket reply.Ticket
	if verdict := s.node.Acquire(&ticket, admit.Work{Weight: 1, NoWait: true}, int64(at), &fx); verdict == reply.Admitted {
		s.ended(ticket, at, window.Ignore) // another resource is short
	}
}

func (s *lawSizer) ended(t reply.Ticket, at time.Duration, o window.Outcome) {
	var fx admit.Effects
	s.node.Done(t, int64(at), o, &fx)
}

// A shield is between a law and the workers that measure for it: when a window closes, the shield
// asks the law on another goroutine. So a law that panics or ends its goroutine takes no worker
// with it, and the size stays.
type shield struct {
	law    law.Law
	failed atomic.Pointer[error] // why the law failed since the last call of failure
}

// Controller implements [law.Law].
func (s *shield) Controller(b law.Bounds) (law.Controller, error) {
	c, err := s.law.Controller(b)
	if err == nil && c == nil {
		err = fmt.Errorf("%T returned no controller and no error: want one", s.law)
	}
	return shielded{s, c}, err
}

// failure returns why the law failed since the last call, nil if it did not.
func (s *shield) failure() error {
	if err := s.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}

type shielded struct {
	*shield
	control law.Controller
}

// Next implements [law.Controller].
func (s shielded) Next(w law.Window) (d law.Decision) {
	if err := isolated(func() { d = s.control.Next(w) }); err != nil {
		err = fmt.Errorf("%w: %T: %w", ErrScaler, s.law, err)
		s.failed.Store(&err)
		return law.Decision{Limit: float64(w.Limit)}
	}
	return d
}

// isolated calls code of a user on another goroutine and waits for its end. A panic or the end of
// that goroutine is an error of this package.
func isolated(call func()) error {
	err := isolate.Call(call)
	if p := new(isolate.PanicError); errors.As(err, &p) {
		return &PanicError{p.Value, p.Stack}
	}
	if err != nil {
		return ErrExited
	}
	return nil
}
