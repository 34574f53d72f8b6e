package sim

import (
	"math"
	"time"

	"github.com/weir-go/weir/law"
)

// Several limiters may protect one server, as in a service with several replicas. They may have
// unequal shares, late starts, or limits that no law controls.

// replicated checks the fields about limiters against their number.
func (s *Scenario) replicated() error {
	limiters := max(1, s.Limiters)
	for _, list := range []struct {
		field string
		given bool
		value any
		count int
	}{
		{"limiter_shares", s.LimiterShares != nil, s.LimiterShares, len(s.LimiterShares)},
		{"limiter_starts", s.LimiterStarts != nil, s.LimiterStarts, len(s.LimiterStarts)},
		{"limiter_fixed", s.LimiterFixed != nil, s.LimiterFixed, len(s.LimiterFixed)},
		{"limiter_skew", s.LimiterSkew != nil, s.LimiterSkew, len(s.LimiterSkew)},
	} {
		if list.given && list.count != limiters {
			return fieldError(list.field, "is %v: want one for each limiter, of which there are %d", list.value, limiters)
		}
	}
	if s.LimiterShares != nil && sum(s.LimiterShares) == 0 {
		return fieldError("limiter_shares", "is %v: want not all of them 0", s.LimiterShares)
	}
	return nil
}

func (s *Scenario) starts(limiter int32) time.Duration {
	if s.LimiterStarts == nil {
		return 0
	}
	return ofSeconds(s.LimiterStarts[limiter])
}

// pinned returns the constant limit of a limiter, 0 if the law controls it.
func (s *Scenario) pinned(limiter int) int {
	if s.LimiterFixed == nil {
		return 0
	}
	return s.LimiterFixed[limiter]
}

// clock returns the time of a limiter's wall clock.
func (s *Scenario) clock(limiter int32, now time.Duration) time.Duration {
	if s.LimiterSkew == nil {
		return now
	}
	return now + ofSeconds(s.LimiterSkew[limiter])
}

func (s *Scenario) replica(limiter int) Limiter {
	l := s.Limiter
	if fixed := s.pinned(limiter); fixed > 0 {
		l.Law = law.Fixed{}
		l.Min, l.Initial, l.Max = min(l.Min, fixed), fixed, max(l.Max, fixed)
	}
	return l
}

// ofSeconds converts seconds to a duration, rounded to the nanosecond.
func ofSeconds(s float64) time.Duration { return time.Duration(math.Round(mul(s, 1e9))) }

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}
