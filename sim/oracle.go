package sim

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/law"
)

// An Oracle is the best that a constant limit can do in each phase of a scenario, for
// one seed.
type Oracle struct {
	Scenario string        // its name
	Seed     uint64        // of the simulations
	Phases   []OraclePhase // in order

	latency Histogram // at the smallest limits that are nearly as good
	bins    []bin     // at the best limits
}

// An OraclePhase is the best of one phase.
type OraclePhase struct {
	Limit    int // of all limiters together, with which the most was good; the smallest of such
	Smallest int // with which 98.5% of that was good
	Good     int // requests that were
}

const (
	sweepLimits = 40
	nearly      = 0.985

	usualHighest = 1000 // of the limits that are tried where several limiters would allow more
)

// Sweep finds the oracle: it runs the scenario without a queue under each of 40 constant
// limits, from 1 to the scenario's OracleMax in steps of about a sixth, and keeps for
// each phase the one with the most good answers. Where there are several limiters, the limit is that
// of all of them together, of which each gets a part by max-min fairness: all that it needs, or
// else as much as any other, and at least 1.
func Sweep(s Scenario, seed uint64) (*Oracle, error) { return SweepOn(1, s, seed) }

// SweepOn is [Sweep] on so many processors at once, with the same oracle. A server, work and
// arrivals of your own are then used by as many goroutines.
func SweepOn(processors int, s Scenario, seed uint64) (*Oracle, error) {
	runs, err := sweep(processors, s, seed)
	if err != nil {
		return nil, err
	}
	o := &Oracle{Scenario: s.Name, Seed: seed, bins: make([]bin, len(runs[0].bins))}
	for i := range s.Phases {
		best, smallest := bestRun(runs, i)
		phase := &best.phases[i]
		o.Phases = append(o.Phases, OraclePhase{Limit: best.limit, Smallest: smallest.limit, Good: best.good(i)})
		o.latency.merge(&smallest.phases[i].latency)
		from := phase.start / binned
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

// highest is the highest limit that the oracle tries, of all limiters together.
func (s *Scenario) highest() int {
	most := s.Limiter.complete().Max
	return orDefault(s.OracleMax, min(most*max(1, s.Limiters), max(most, usualHighest)))
}

// swept runs the scenario under one of them.
func (s Scenario) swept(limit int, shared []stretch, seed uint64) (swept, error) {
	s.Limiter.Initial = limit
	e, err := newEngine(s, seed)
	if err != nil {
		return swept{}, err
	}
	e.stretches = slices.Clone(shared)
	for i := range e.stretches {
		e.stretches[i].split(limit)
	}
	err = e.run()
	return swept{limit, e.record.phases, e.record.bins}, err
}

// swept is what came of one of the limits.
type swept struct {
	limit  int
	phases []phaseRecord
	bins   []bin
}

func (s *swept) good(phase int) int { return s.phases[phase].tally().Good }

// bestRun returns the run with the most good answers in a phase, and the first that
// nearly has as many.
func bestRun(runs []swept, phase int) (best, smallest swept) {
	best = runs[0]
	for _, r := range runs {
		if r.good(phase) > best.good(phase) {
			best = r
		}
	}
	enough := mul(nearly, float64(best.good(phase)))
	for _, r := range runs {
		if float64(r.good(phase)) >= enough {
			return best, r
		}
	}
	return best, best
}

// limitsUpTo returns whole limits from 1 to the highest, each the same factor above the
// one before as far as whole numbers allow.
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

// A Score is a result held against the oracle. It is one line of JSON.
type Score struct {
	Scenario string `json:"scenario"` // its name
	Law      string `json:"law"`      // as text
	Seed     uint64 `json:"seed"`     // of the simulation

	// Goodput is the good answers as a percentage of the oracle's, of all phases and of
	// each; at most 100. Uncapped is the former as it is: a queue may do better
	// than the oracle, which has none.
	Goodput  float64   `json:"goodput_pct"`
	Phases   []float64 `json:"phase_goodput_pct"`
	Uncapped float64   `json:"goodput_uncapped_pct"`

	// P99Ratio is the p99 of the latency, from the attempt to the answer, of what was
	// answered without error, over that of the oracle: at the smallest limit of
	// each phase that reaches 98.5% of its goodput.
	P99Ratio float64 `json:"p99_ratio"`

	// Convergence is how many seconds after the beginning of a phase 3 s began in
	// which at least 90% as much was good as at the oracle's limit in the
	// same 3 s; of the worst phase, and its whole length if there are none.
	Convergence float64 `json:"convergence_s"`

	// LimitMean and LimitCV are the mean of the limit and its coefficient of variation
	// in the latter half of each phase, averaged by time.
	LimitMean float64 `json:"limit_mean"`
	LimitCV   float64 `json:"limit_cv"`

	// Refused is the share of attempts that were refused, and FalseRefused the
	// share that was although there was capacity: in the second of the refusal
	// (counted from the start), no more than 1% of what ended at the oracle's limit
	// was refused, late or cancelled.
	Refused      float64 `json:"refused"`
	FalseRefused float64 `json:"false_refused"`

	// Probed is the share of attempts that were refused while the law had lowered the
	// limit to measure the latency without load. It is more than what probing costs: some
	// would have been refused anyway.
	Probed float64 `json:"refused_probing"`

	// Late is the share of answers without error that came after the SLO.
	Late float64 `json:"late"`
}

// Score holds a result against the oracle. That it is of another scenario or seed is an
// error.
func (o *Oracle) Score(r *Result) (Score, error) {
	if r.Scenario != o.Scenario || r.Seed != o.Seed || len(r.Phases) != len(o.Phases) || len(r.bins) != len(o.bins) {
		return Score{}, fmt.Errorf("sim: a result of %q with seed %d cannot be scored by the oracle of %q with seed %d",
			r.Scenario, r.Seed, o.Scenario, o.Seed)
	}
	s := Score{
		Scenario: r.Scenario, Law: r.Law, Seed: r.Seed,
		P99Ratio:  ratio(float64(r.Latency.Quantile(0.99)), float64(o.latency.Quantile(0.99))),
		LimitMean: r.LimitMean, LimitCV: r.LimitCV,
		Refused: ratio(float64(r.Refused), float64(r.Attempts)),
		Probed:  ratio(float64(r.Probed), float64(r.Attempts)),
		Late:    ratio(float64(r.Late), float64(r.Good+r.Late)),
	}
	best := 0
	for i, p := range o.Phases {
		s.Phases = append(s.Phases, percent(r.Phases[i].Good, p.Good))
		s.Convergence = max(s.Convergence, o.converged(r, i).Seconds())
		best += p.Good
	}
	s.Goodput = percent(r.Good, best)
	s.Uncapped = 100 * ratio(float64(r.Good), float64(best))
	s.FalseRefused = ratio(float64(o.falselyRefused(r)), float64(r.Attempts))
	return s, nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// percent is the share of good answers, all of them if the oracle had none either.
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

// converged is how long after its beginning a phase was as good as it should be.
func (o *Oracle) converged(r *Result, phase int) time.Duration {
	p := &r.Phases[phase]
	first := int((p.Start + binned - 1) / binned)
	last := int((p.Start + p.Length) / binned)
	window := min(int(convergedFor/binned), last-first)
	good, best := 0, 0
	for i := first; i < last; i++ {
		good += int(r.bins[i].good)
		best += int(o.bins[i].good)
		from := i - window + 1
		if from < first {
			continue
		}
		if float64(good) >= mul(convergedShare, float64(best)) {
			return time.Duration(from)*binned - p.Start
		}
		good -= int(r.bins[from].good)
		best -= int(o.bins[from].good)
	}
	return p.Length
}

// light is the share of attempts that an oracle may lose in a second in which no refusal
// is called for: a heavy tail makes some late under any load.
const light = 0.01

// falselyRefused counts the refusals in the seconds in which the oracle had room.
func (o *Oracle) falselyRefused(r *Result) (count int) {
	const perSecond = int(time.Second / binned)
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
