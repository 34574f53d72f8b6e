package sim

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/maxmin"
	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/law"
)

// An Oracle is the best possible result of a constant limit in each phase of a scenario, for
// one seed.
type Oracle struct {
	Scenario string        // its name
	Regime   string        // of the scenario
	Seed     uint64        // of the simulations
	Phases   []OraclePhase // in order

	latency Histogram // at the smallest limits that are nearly as good
	bins    []bin     // at the best limits
	width   time.Duration
}

// An OraclePhase is the best result of one phase.
type OraclePhase struct {
	Limit    int   // the smallest limit, of all limiters together, with the most good answers
	Smallest int   // the smallest limit with 98.5% of these answers
	Good     int   // good requests
	Limiters []int // good requests at each limiter
	Start    bool  // the phase begins within the scenario's Start
}

const (
	sweepLimits = 40
	nearly      = 0.985

	usualHighest = 1000 // the highest limit that Sweep tries, unless a setting demands a higher one
)

// Sweep finds the oracle. It runs the scenario without a queue under up to 40 constant limits, from
// 1 to the scenario's OracleMax in steps of an equal factor, and keeps for each phase the limit
// with the most good answers. With several limiters, the limit is the total of all limiters,
// divided by max-min fairness: each limiter gets all that it needs, or else as much as any other
// limiter, and at least 1.
func Sweep(s Scenario, seed uint64) (*Oracle, error) { return SweepOn(1, s, seed) }

// SweepOn is [Sweep] on the given number of processors at once, and finds the same oracle. It calls
// a custom server, work and arrivals from the same number of goroutines.
func SweepOn(processors int, s Scenario, seed uint64) (*Oracle, error) {
	runs, err := sweep(processors, s, seed)
	if err != nil {
		return nil, err
	}
	o := &Oracle{
		Scenario: s.Name, Regime: s.Regime, Seed: seed,
		bins: make([]bin, len(runs[0].bins)), width: runs[0].width,
	}
	for i := range s.Phases {
		best, smallest := bestRun(runs, i)
		phase := &best.phases[i]
		o.Phases = append(o.Phases, OraclePhase{
			Limit: best.limit, Smallest: smallest.limit, Good: best.goodIn(i),
			Limiters: phase.goodAt(max(1, s.Limiters)), Start: phase.Start < s.Start,
		})
		o.latency.merge(&smallest.phases[i].Latency)
		from := phase.Start / o.width
		copy(o.bins[from:], best.bins[from:])
	}
	return o, nil
}

// sweep runs the scenario under each of the limits.
func sweep(processors int, s Scenario, seed uint64) ([]swept, error) {
	highest := s.highest()
	s.Limiter = Limiter{Max: highest, Law: law.Fixed{}}
	complete, err := s.complete()
	if err != nil {
		return nil, fmt.Errorf("sim: scenario %q: %w", s.Name, err)
	}
	var shared []stretch
	if complete.Limiters > 1 {
		shared = complete.stretches(seed)
	}
	limits := limitsUpTo(highest)
	runs, errs := make([]swept, len(limits)), make([]error, len(limits))
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(limits)); i = next.Add(1) - 1 {
			runs[i], errs[i] = s.swept(limits[i], shared, seed)
		}
	}
	var others sync.WaitGroup
	for range min(processors, len(limits)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return runs, cmp.Or(errs...)
}

// highest returns the highest limit that the oracle tries, of all limiters together.
func (s *Scenario) highest() int {
	most := cmp.Or(s.Limiter.Max, max(usualHighest, s.Limiter.Min))
	if most < usualHighest {
		most = min(most*max(1, s.Limiters), usualHighest)
	}
	return cmp.Or(s.OracleMax, most)
}

func (s Scenario) swept(limit int, shared []stretch, seed uint64) (swept, error) {
	s.Limiter.Initial = limit
	e, err := newEngine(s, seed)
	if err != nil {
		return swept{}, err
	}
	e.stretches = slices.Clone(shared)
	for i := range e.stretches {
		e.stretches[i].limits = maxmin.Split(limit, e.stretches[i].needs)
	}
	err = e.run()
	return swept{limit, e.record}, err
}

// swept is the record of the run under one limit.
type swept struct {
	limit int
	record
}

func (s *swept) goodIn(phase int) int { return s.phases[phase].tally().Good }

// bestRun returns the run with the most good answers in a phase, and the run with the smallest
// limit that has nearly as many good answers.
func bestRun(runs []swept, phase int) (best, smallest swept) {
	best = runs[0]
	for _, r := range runs {
		if r.goodIn(phase) > best.goodIn(phase) {
			best = r
		}
	}
	enough := mul(nearly, float64(best.goodIn(phase)))
	for _, r := range runs {
		if float64(r.goodIn(phase)) >= enough {
			return best, r
		}
	}
	return best, best
}

// limitsUpTo returns whole limits from 1 to the highest, each the same factor above the limit
// before it, as far as whole numbers allow.
func limitsUpTo(highest int) []int {
	limits := []int{1}
	for limit := 1; limit < highest; {
		left := sweepLimits - len(limits)
		step := portable.Exp(portable.Log(float64(highest)/float64(limit)) / float64(max(1, left)))
		limit = min(highest, max(limit+1, int(mul(float64(limit), step)+0.5)))
		limits = append(limits, limit)
	}
	return limits
}
