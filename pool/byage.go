package pool

import (
	"cmp"
	"fmt"
	"time"
)

// ByAge is a [Scaler] that steps up while the oldest task has waited for longer than High, and
// down while it has waited for less than Low, or none waits. While the age is unknown
// it holds. The zero ByAge works; 0 always means the default.
type ByAge struct {
	// High is the wait above which the size rises. Defaults to 10 s.
	High time.Duration
	// Low is the wait below which the size falls, below High. Defaults to two fifths of High.
	Low time.Duration

	// Per, if set, adds a Step for each so long above High.
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
	return &markSizer{
		stepper: stepper, high: int64(a.High), low: int64(a.Low), per: int64(a.Per), seconds: true, signal: age,
	}, nil
}

// age is how long the oldest task has waited.
func age(d Depth) (value int64, why Reason) {
	why = Reason{Signal: "oldest task waits", Have: d.Oldest.Seconds(), Unit: "s"}
	if d.Count > 0 && d.Oldest <= 0 {
		why = Reason{Code: Unknown, Signal: "age of the oldest task"}
	}
	return int64(d.Oldest), why
}
