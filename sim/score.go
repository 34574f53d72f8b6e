package sim

import (
	"fmt"
	"time"
)

// A Score compares a result with the oracle. It is one line of JSON.
type Score struct {
	Scenario string `json:"scenario"` // its name
	Law      string `json:"law"`      // as text
	Seed     uint64 `json:"seed"`     // of the simulation

	// Goodput is the number of good answers in all phases after the start, as a percentage of the
	// oracle's good answers: at most 100. Phases has the same figure for each phase. Uncapped is
	// Goodput without the cap, because a limiter with a queue may do better than the oracle, which
	// has no queue.
	Goodput  float64   `json:"goodput_pct"`
	Phases   []float64 `json:"phase_goodput_pct"`
	Uncapped float64   `json:"goodput_uncapped_pct"`

	// P99Ratio is the p99 latency of answers without error, from the attempt to the answer, divided
	// by the oracle's p99 latency. The latency of the oracle is measured at the smallest limit of
	// each phase that reaches 98.5% of the best goodput.
	P99Ratio float64 `json:"p99_ratio"`

	// Convergence is the number of seconds from the beginning of a phase to the first 3 s with at
	// least 90% of the good answers that the oracle's limit gave in the same 3 s. Without such a
	// time it is the length of the phase. The worst phase counts.
	Convergence float64 `json:"convergence_s"`

	// LimitMean and LimitCV are the mean of the limit and its coefficient of variation
	// in the latter half of each phase, averaged by time.
	LimitMean float64 `json:"limit_mean"`
	LimitCV   float64 `json:"limit_cv"`

	// Refused is the share of attempts that were refused. FalseRefused is the share of attempts
	// that were refused in a second with spare capacity: under the oracle's limit, at most 1% of
	// the attempts in that second were refused, late or cancelled. Seconds count from the start.
	Refused      float64 `json:"refused"`
	FalseRefused float64 `json:"false_refused"`

	// Probed is the share of attempts refused while the law had lowered the limit to measure the
	// latency without load. It exceeds the cost of probing, because some of these attempts would
	// have been refused anyway.
	Probed float64 `json:"refused_probing"`

	// Pushed is the share of the work sent to the server that the server refused.
	Pushed float64 `json:"pushed,omitempty"`

	// Late is the share of answers without error that came after the SLO.
	Late float64 `json:"late"`

	// Regime is the regime of the scenario.
	Regime string `json:"regime,omitempty"`

	// Starts is the number of phases that begin within the scenario's Start, and StartGoodput is
	// the Goodput of these phases.
	Starts       int     `json:"start_phases,omitempty"`
	StartGoodput float64 `json:"start_goodput_pct,omitempty"`

	// Jain is Jain's index of fairness between several limiters. It compares the ratios of each
	// limiter's goodput to its goodput under the oracle, which is fair. It is 1 if all ratios are
	// equal, 1/n if one of n limiters has all goodput, and 0 with fewer than two limiters. Limiters
	// with a fixed limit do not count.
	Jain float64 `json:"jain,omitempty"`

	// Harm compares the result with the baseline, if there is one.
	Harm *Comparison `json:"harm,omitempty"`
}

// Score compares a result with the oracle. A result of another scenario or seed is an error.
func (o *Oracle) Score(r *Result) (Score, error) {
	if r.Scenario != o.Scenario || r.Seed != o.Seed || len(r.Phases) != len(o.Phases) ||
		len(r.bins) != len(o.bins) || len(r.Limiters) != len(o.Phases[0].Limiters) {
		return Score{}, fmt.Errorf("sim: a result of %q with seed %d cannot be scored by the oracle of %q with seed %d",
			r.Scenario, r.Seed, o.Scenario, o.Seed)
	}
	s := Score{
		Scenario: r.Scenario, Regime: o.Regime, Law: r.Law, Seed: r.Seed,
		P99Ratio:  ratio(float64(r.Latency.Quantile(0.99)), float64(o.latency.Quantile(0.99))),
		LimitMean: r.LimitMean, LimitCV: r.LimitCV,
		Refused: ratio(float64(r.Refused), float64(r.Attempts)),
		Probed:  ratio(float64(r.Probed), float64(r.Attempts)),
		Pushed:  ratio(float64(r.Pushed), float64(r.Attempts-r.Refused-r.Cancelled)),
		Late:    ratio(float64(r.Late), float64(r.Good+r.Late)),
	}
	var start, rest goodput
	for i, p := range o.Phases {
		s.Phases = append(s.Phases, percent(r.Phases[i].Good, p.Good))
		s.Convergence = max(s.Convergence, o.converged(r, i).Seconds())
		if p.Start {
			s.Starts++
			start.add(r.Phases[i].Good, p.Good)
		} else {
			rest.add(r.Phases[i].Good, p.Good)
		}
	}
	s.Goodput, s.Uncapped = percent(rest.good, rest.best), 100*ratio(float64(rest.good), float64(rest.best))
	s.Jain = o.jain(r)
	if s.Starts > 0 {
		s.StartGoodput = percent(start.good, start.best)
	}
	s.FalseRefused = ratio(float64(o.falselyRefused(r)), float64(r.Attempts))
	return s, nil
}

// goodput counts the good answers in some phases, and the oracle's good answers in them.
type goodput struct{ good, best int }

func (g *goodput) add(good, best int) {
	g.good += good
	g.best += best
}

// jain returns the index for Score.Jain.
func (o *Oracle) jain(r *Result) float64 {
	sum, squares, count := 0.0, 0.0, 0.0
	for i, limiter := range r.Limiters {
		entitled := 0
		for _, p := range o.Phases {
			entitled += p.Limiters[i]
		}
		if entitled == 0 || r.pinned[i] {
			continue
		}
		part := ratio(float64(limiter.Good), float64(entitled))
		sum, squares, count = sum+part, squares+mul(part, part), count+1
	}
	if count < 2 {
		return 0
	}
	return ratio(mul(sum, sum), mul(count, squares))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// percent returns the good answers as a percentage of the oracle's good answers, at most 100. It is
// 100 if the oracle had no good answers.
func percent(good, best int) float64 {
	if good >= best {
		return 100
	}
	return 100 * float64(good) / float64(best)
}

const (
	convergedFor   = 3 * time.Second
	convergedShare = 0.9
)

// converged returns the time from the beginning of a phase until the goodput was at least
// convergedShare of the oracle's goodput, for convergedFor.
func (o *Oracle) converged(r *Result, phase int) time.Duration {
	p := &r.Phases[phase]
	first := int((p.Start + o.width - 1) / o.width)
	last := int((p.Start + p.Length) / o.width)
	window := min(max(1, int(convergedFor/o.width)), last-first)
	good, best := 0, 0
	for i := first; i < last; i++ {
		good += int(r.bins[i].good)
		best += int(o.bins[i].good)
		from := i - window + 1
		if from < first {
			continue
		}
		if float64(good) >= mul(convergedShare, float64(best)) {
			return time.Duration(from)*o.width - p.Start
		}
		good -= int(r.bins[from].good)
		best -= int(o.bins[from].good)
	}
	return p.Length
}

// light is the share of attempts that an oracle may lose in a second in which no refusal is
// necessary: a heavy tail makes some attempts late under any load.
const light = 0.01

// falselyRefused counts the refusals in seconds in which the oracle had room.
func (o *Oracle) falselyRefused(r *Result) (count int) {
	perSecond := max(1, int(time.Second/o.width))
	for from := 0; from < len(r.bins); from += perSecond {
		refused, good, lost := 0, 0, 0
		for i := from; i < min(from+perSecond, len(r.bins)); i++ {
			refused += int(r.bins[i].refused)
			good += int(o.bins[i].good)
			lost += int(o.bins[i].lost)
		}
		if float64(lost) <= mul(light, float64(good+lost)) {
			count += refused
		}
	}
	return count
}
