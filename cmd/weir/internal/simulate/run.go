package simulate

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A Job is one scenario under one seed, so that the oracle and all laws get the same
// requests.
type Job struct {
	Scenario sim.Scenario
	Index    int // of the scenario; names may be equal
	Laws     []law.Law
	Seed     uint64
	Unscored bool // omits the oracle, which takes forty times as long as a law
	Harm     bool // also compares results with no limit and a fixed limit of 20
	Told     bool // adds laws configured with the scenario's SLO
	Oracles  oraclecache.Cache
	With     []sim.Score // scores of other limiters, also in other scenarios
}

// An Outcome is the result of a job, by law.
type Outcome struct {
	Job      Job
	Results  []*sim.Result
	Oracle   *sim.Oracle
	Baseline *sim.Baseline // nil unless Job.Harm
	Scores   []sim.Score
}

// Jobs returns a job for each scenario and each of n seeds. If laws is empty, a job uses the law of
// its scenario, or the library's default law if the scenario has none.
func Jobs(scenarios []sim.Scenario, laws []law.Law, seed uint64, n int) []Job {
	var jobs []Job
	for i, s := range scenarios {
		chosen := laws
		if len(laws) == 0 {
			chosen = []law.Law{cmp.Or(s.Limiter.Law, law.Law(law.Setpoint{}))}
		}
		for j := range n {
			jobs = append(jobs, Job{Scenario: s, Index: i, Laws: chosen, Seed: seed + uint64(j)})
		}
	}
	return jobs
}

// An InputError is a scenario or a law that cannot be simulated.
type InputError struct{ Err error }

// Error names the scenario.
func (e *InputError) Error() string { return strings.TrimPrefix(e.Err.Error(), "sim: ") }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

func (j Job) run(processors int) (o Outcome, err error) {
	o.Job = j
	for _, c := range j.contenders() {
		r, err := sim.Run(c.scenario, c.law, j.Seed)
		if err != nil {
			return o, &InputError{err}
		}
		r.Law = cmp.Or(c.name, r.Law)
		o.Results = append(o.Results, r)
	}
	if j.Unscored {
		return o, nil
	}
	if o.Oracle, err = j.Oracles.Sweep(processors, j.Scenario, j.Seed); err != nil {
		return o, &InputError{err}
	}
	if j.Harm {
		if o.Baseline, err = sim.BaselineOf(j.Scenario, j.Seed); err != nil {
			return o, &InputError{err}
		}
	}
	for _, r := range o.Results {
		score, err := o.score(r)
		if err != nil {
			return o, err
		}
		o.Scores = append(o.Scores, score)
	}
	for _, score := range j.With {
		if score.Scenario == j.Scenario.Name && score.Seed == j.Seed {
			o.Scores = append(o.Scores, score)
		}
	}
	return o, nil
}

// score compares a result with the oracle and, if there is one, the baseline.
func (o *Outcome) score(r *sim.Result) (sim.Score, error) {
	score, err := o.Oracle.Score(r)
	if err == nil && o.Baseline != nil {
		score.Harm, err = o.Baseline.Compare(r)
	}
	return score, err
}

// A contender is a law in a scenario.
type contender struct {
	scenario sim.Scenario
	law      law.Law
	name     string // defaults to the law
}

// contenders returns the laws of the job and, if Told, laws that can use the deadline, by a setting
// or through the work. A target at half of the deadline leaves the other half for variation.
func (j Job) contenders() (list []contender) {
	s := j.Scenario
	for _, l := range j.Laws {
		list = append(list, contender{s, l, ""})
	}
	if !j.Told {
		return list
	}
	return append(list,
		contender{withClients(s, func(c *sim.Client) { c.Deadlines = true }), law.Setpoint{}, "setpoint(deadlines)"},
		contender{withClients(s, func(c *sim.Client) { c.Leaves = true }), law.Setpoint{}, "setpoint(leaving)"},
		contender{s, law.Setpoint{Budget: s.SLO}, "setpoint(budget=slo)"},
		contender{s, law.PID{Target: s.SLO / 2}, "pid(target=slo/2)"},
		contender{s, law.Band{Target: s.SLO / 2}, "band(target=slo/2)"})
}

func withClients(s sim.Scenario, change func(*sim.Client)) sim.Scenario {
	s.Clients = slices.Clone(s.Clients)
	if len(s.Clients) == 0 {
		s.Clients = make([]sim.Client, 1)
	}
	for i := range s.Clients {
		change(&s.Clients[i])
	}
	return s
}

// Run runs the jobs on all processors and calls each with every outcome, in the order of the jobs.
// If there are fewer jobs than processors, a job may get several processors. When ctx ends, Run
// returns at once, and running simulations end by themselves.
func Run(ctx context.Context, jobs []Job, each func(Outcome) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		outcome Outcome
		err     error
	}
	answers := make([]chan answer, len(jobs))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	processors := runtime.GOMAXPROCS(0)
	share := max(1, processors/max(1, len(jobs)))
	var next atomic.Int64
	for range min(processors, len(jobs)) {
		go func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				outcome, err := jobs[i].run(share)
				answers[i] <- answer{outcome, err}
			}
		}()
	}
	for i := range jobs {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case a := <-answers[i]:
			if a.err != nil {
				return a.err
			}
			if err := each(a.outcome); err != nil {
				return err
			}
		}
	}
	return nil
}
