package pool

import (
	"math"
	"time"
)

// A markSizer steps up while a signal of the backlog is above its high mark, and down while it is
// below the low one.
type markSizer struct {
	stepper
	high, low int64
	per       int64 // adds a step for each so much above high; 0: none
	seconds   bool  // the signal is a time.Duration
	signal    func(Depth) (value int64, why Reason)
}

// Next implements [Sizer].
func (s *markSizer) Next(r Observation) (int64, Reason) {
	value, why := s.signal(r.Backlog)
	switch {
	case why.Code == Unknown:
		return r.Size, why
	case value > s.high && r.Running > 0 && r.Wanted > 0 && r.InUse+r.Wanted <= r.Size:
		why.Code = Unused
		if rest := r.Size - r.InUse - r.Wanted; rest > 0 {
			return s.step(r, -rest, why) // others may use it
		}
		return r.Size, why
	case value > s.high:
		why.Code, why.Want = Above, s.mark(s.high)
		return s.step(r, s.up(value-s.high), why)
	case value < s.low:
		why.Code, why.Want = Below, s.mark(s.low)
		return s.step(r, -s.by, why)
	}
	why.Code = Within
	return r.Size, why
}

// mark is a mark in the unit of the reason.
func (s *markSizer) mark(value int64) float64 {
	if s.seconds {
		return time.Duration(value).Seconds()
	}
	return float64(value)
}

// up returns the step for a signal above the mark by the given amount.
func (s *markSizer) up(above int64) int64 {
	if s.per == 0 {
		return s.by
	}
	if steps := above/s.per + 1; steps < math.MaxInt64/2/s.by-1 {
		return min(steps*s.by, s.plan.Max)
	}
	return s.plan.Max
}
