package pool

import (
	"cmp"
	"fmt"
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

	// Step is how much the size moves at a time, in units of the resource. Defaults
	// to 1.
	Step int64
	// Per, if set, adds a Step for each so many tasks above High.
	Per int64

	// Period is from one decision to the next. Defaults to 1 s.
	Period time.Duration
	// Cooldown is the least time from one change to the next. Defaults to none
	// beside the Period.
	Cooldown time.Duration
}

// Sizer implements [Scaler].
func (b ByBacklog) Sizer(limit int64) (Sizer, error) {
	invalid := func(field string, value any, want string) error { return invalid("ByBacklog."+field, value, want) }
	if b.High < 0 {
		return nil, invalid("High", b.High, "0 (the default, 10) or more")
	}
	b.High = cmp.Or(b.High, 10)
	b.Low = cmp.Or(b.Low, b.High/5*2)
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
	return &markSizer{stepper: stepper, high: b.High, low: b.Low, per: b.Per, signal: backlog}, nil
}

// backlog is how many tasks wait to start.
func backlog(d Depth) (value int64, r Reason) {
	return d.Count, Reason{Signal: "backlog", Have: float64(d.Count)}
}
