package sim

import (
	"fmt"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/law"
)

// A Baseline is the outcome of a scenario without any limit, and with a fixed limit of 20. A
// limiter does harm if it is worse than the better of the two outcomes.
type Baseline struct {
	Scenario string          `json:"scenario"` // its name
	Seed     uint64          `json:"seed"`     // of the simulations
	Phases   []BaselinePhase `json:"phases"`   // in order
}

// A BaselinePhase counts the good answers among the requests that came in a phase. An answer that a
// long queue delays beyond the phase still counts for the phase, and so not against a limiter that
// refuses in the next phase.
type BaselinePhase struct {
	Unlimited int `json:"unlimited"` // without any limit
	Twenty    int `json:"twenty"`    // with a limit of 20 at each limiter
}

// Possible returns the larger of the two counts.
func (p BaselinePhase) Possible() int { return max(p.Unlimited, p.Twenty) }

// noLimit is more work than a server ever has, whatever limits a scenario allows.
const noLimit = settings.MaxSlots

// BaselineOf runs the scenario without a queue, once without a limit and once with a limit of 20.
func BaselineOf(s Scenario, seed uint64) (*Baseline, error) {
	b := &Baseline{Scenario: s.Name, Seed: seed, Phases: make([]BaselinePhase, len(s.Phases))}
	for _, limit := range []int{noLimit, 20} {
		s.Limiter = Limiter{Law: law.Fixed{}, Initial: limit, Max: noLimit}
		run, err := s.swept(limit, nil, seed)
		if err != nil {
			return nil, err
		}
		for i := range b.Phases {
			if limit == 20 {
				b.Phases[i].Twenty = run.phases[i].Answered
			} else {
				b.Phases[i].Unlimited = run.phases[i].Answered
			}
		}
	}
	return b, nil
}

// A Comparison compares a result with a [Baseline].
type Comparison struct {
	Good     []int           `json:"good"`     // good requests, by the phase in which they came
	Possible []BaselinePhase `json:"possible"` // good requests under the baseline, by phase
}

// Compare compares a result with the baseline. A result of another scenario or seed is an
// error.
func (b *Baseline) Compare(r *Result) (*Comparison, error) {
	if r.Scenario != b.Scenario || r.Seed != b.Seed || len(r.Phases) != len(b.Phases) {
		return nil, fmt.Errorf(
			"sim: a result of %q with seed %d cannot be held against the baseline of %q with seed %d",
			r.Scenario, r.Seed, b.Scenario, b.Seed)
	}
	c := &Comparison{Possible: b.Phases}
	for _, p := range r.Phases {
		c.Good = append(c.Good, p.Answered)
	}
	return c, nil
}
