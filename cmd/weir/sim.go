package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

type simCommand struct {
	Overview helpOfGroup `cmd:"" default:"1" hidden:""`

	List  simListCommand  `cmd:"" help:"List the scenarios that come with weir."`
	Run   simRunCommand   `cmd:"" help:"Run laws on scenarios."`
	Suite simSuiteCommand `cmd:"" help:"Run laws on the named suite or on random systems, and sum up."`
	Trace simTraceCommand `cmd:"" help:"Run laws on requests that were recorded."`
	Tune  simTuneCommand  `cmd:"" help:"Search the settings of a law, and say what they would gain."`
}

// defaultLaw is the library's default.
var defaultLaw law.Law = law.Setpoint{}

type lawFlags struct {
	Law   []lawFlag `sep:"none" placeholder:"LAW" help:"Control law, such as 'little(alpha=0.3)': ${laws}; may be repeated. Defaults to the scenario's own, or else setpoint. See weir help laws."`
	Seeds repeats   `default:"1" placeholder:"N" help:"How many seeds to run each law with (default ${default})."`
	Seed  uint64    `default:"1" placeholder:"S" help:"The first of them (default ${default})."`
	Queue queueFlag `placeholder:"KIND" help:"Put this queue in front of every law: adaptive, or how many may wait for up to a second. Goodput is then shown uncapped as well, as a queue may do better than the best limit without."`
}

func (f lawFlags) laws() []law.Law {
	laws := make([]law.Law, len(f.Law))
	for i, l := range f.Law {
		laws[i] = l.law
	}
	return laws
}

func (f lawFlags) jobs(scenarios []sim.Scenario) []simulate.Job {
	if f.Queue != (queueFlag{}) {
		scenarios = slices.Clone(scenarios)
		for i := range scenarios {
			scenarios[i].Limiter.Queue = sim.Queue(f.Queue)
		}
	}
	return simulate.Jobs(scenarios, f.laws(), defaultLaw, f.Seed, int(f.Seeds))
}

// repeats is a number of seeds or systems.
type repeats int

const mostRepeats = 10_000

func (r *repeats) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > mostRepeats {
		return fmt.Errorf("%q: want a whole number, 1 to %d", text, mostRepeats)
	}
	*r = repeats(n)
	return nil
}

// queueFlag is a limiter's queue.
type queueFlag sim.Queue

const mostQueued = 1_000_000

func (q *queueFlag) UnmarshalText(text []byte) error {
	if string(text) == "adaptive" {
		*q = queueFlag{Adaptive: true}
		return nil
	}
	size, err := strconv.Atoi(string(text))
	if err != nil || size < 1 || size > mostQueued {
		return fmt.Errorf("%q: want adaptive, or how many may wait: 1 to %d", text, mostQueued)
	}
	*q = queueFlag{Size: size}
	return nil
}

type outputFlags struct {
	JSON bool     `name:"json" xor:"form" help:"Print one JSON object a line for each law and seed."`
	CSV  bool     `name:"csv" xor:"form" help:"Print the same as CSV."`
	Plot plotFlag `placeholder:"FILE" help:"Draw it to this file too, as SVG, which browsers show."`
}

// seriesFlags select the figures to show over time.
type seriesFlags struct {
	Every span   `placeholder:"TIME" help:"Print limit, in flight, queued, p95, admitted and refused so often, and no scores."`
	Panel panels `placeholder:"NAME,..." help:"What --plot draws: ${panels}. Defaults to all of them."`
}

// panels are the panels of a chart over time.
type panels []string

func (p *panels) UnmarshalText(text []byte) error {
	known := simulate.Panels()
	for name := range strings.SplitSeq(string(text), ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q: %s", name, nearest.Advice(name, known))
		}
		*p = append(*p, name)
	}
	return nil
}

func (f outputFlags) form() form {
	switch {
	case f.JSON:
		return asJSON
	case f.CSV:
		return asCSV
	}
	return asTable
}

type simListCommand struct{}

// Run lists the scenarios.
func (simListCommand) Run(s streams) error { //nolint:unparam // Kong wants an error
	listScenarios(s.out)
	return nil
}

type simRunCommand struct {
	Scenario []string `arg:"" help:"Name of a scenario, or a file: .json, .yaml or .yml."`

	lawFlags
	outputFlags
	seriesFlags
}

// scenarios are the built-in scenarios.
func scenarios() []sim.Scenario {
	return suites.All()
}

// Run runs the scenarios.
func (c simRunCommand) Run(ctx context.Context, s streams) error {
	scenarios := make([]sim.Scenario, len(c.Scenario))
	for i, name := range c.Scenario {
		scenario, err := simulate.Load(name)
		if err != nil {
			return usageError{err}
		}
		scenarios[i] = scenario
	}
	return runScenarios(ctx, s, scenarios, c.lawFlags, c.outputFlags, c.seriesFlags, newScores(s.out, c.form(), noSummary))
}

// runScenarios prints and draws the results of run and trace. With Every, it prints a time
// series instead of the report.
func runScenarios(ctx context.Context, s streams, scenarios []sim.Scenario, laws lawFlags, output outputFlags, series seriesFlags, report reporter) error {
	every := time.Duration(series.Every)
	if len(series.Panel) > 0 && output.Plot == "" {
		return usageError{errors.New("--panel: says what --plot draws: want --plot FILE as well")}
	}
	if output.Plot != "" && len(scenarios) > simulate.MostPlotted {
		return usageError{fmt.Errorf("--plot: %d scenarios: want %d at most", len(scenarios), simulate.MostPlotted)}
	}
	for i := range scenarios {
		if every <= 0 {
			continue
		}
		if length := simulate.Length(scenarios[i]); every > length {
			return usageError{fmt.Errorf("--every: %v: want at most %v, the length of %s", every, length, scenarios[i].Name)}
		}
		scenarios[i].Sample = every
	}
	if err := output.Plot.check(); err != nil {
		return err
	}
	plotted := output.Plot != ""
	jobs := laws.jobs(scenarios)
	for i := range jobs {
		jobs[i].Unscored = every > 0 && !plotted
	}
	if every > 0 {
		report = newSeries(s.out, output.form())
	}
	var drawn []simulate.Outcome
	err := simulated(ctx, s, jobs, func(o simulate.Outcome) error {
		if plotted && o.Job.Seed == laws.Seed {
			drawn = append(drawn, o)
		}
		return report.add(o)
	})
	if err == nil {
		err = report.end()
	}
	if err != nil || !plotted {
		return err
	}
	chart, err := simulate.ChartRun(drawn, series.Panel...)
	if err != nil {
		return err
	}
	return output.Plot.draw(chart)
}

type simSuiteCommand struct {
	Named  bool    `xor:"suite" required:"" help:"Run the named suite."`
	Random repeats `xor:"suite" required:"" placeholder:"N" help:"Run so many random systems, drawn with seeds from --seed on."`
	Harm   repeats `xor:"suite" required:"" placeholder:"N" help:"Run so many systems in which limiters do harm, drawn like random ones, and compare with no limit and a fixed 20 as well."`
	Shared repeats `xor:"suite" required:"" placeholder:"N" help:"Run so many systems of 2 to 16 limiters before one server, drawn like random ones."`

	lawFlags
	outputFlags
	Summary bool     `help:"Print the summary of each law only: with --json one object a line, with null where there is nothing to compare."`
	Regimes bool     `help:"Sum up each law in each regime as well, which --harm and --shared do anyway: the kinds of systems, or with --random those with several limiters apart."`
	Told    bool     `help:"Add setpoint with each scenario's SLO as the deadline of the work and as its budget, and pid and band with half of it as their target."`
	With    []string `type:"existingfile" sep:"none" placeholder:"FILE" help:"Add these scores of other limiters, as --json prints them; may be repeated."`
	Oracles string   `placeholder:"DIR" help:"Keep in this folder the best there is of each scenario and seed, which takes forty times as long as a law, and find it there next time. Empty it when weir is updated."`
}

// Run runs a suite.
func (c simSuiteCommand) Run(ctx context.Context, s streams) error {
	scenarios, err := c.scenarios()
	if err != nil {
		return usageError{err}
	}
	shown := withSummary
	if c.Summary {
		shown = summaryOnly
	}
	report := newScores(s.out, c.form(), shown)
	report.regimes = c.Regimes || c.Harm > 0 || c.Shared > 0
	others, err := simulate.ReadScores(c.With)
	if err != nil {
		return usageError{err}
	}
	if err := c.Plot.check(); err != nil {
		return err
	}
	jobs := c.jobs(scenarios)
	for i := range jobs {
		jobs[i].Oracles, jobs[i].Told, jobs[i].Harm = oraclecache.Cache(c.Oracles), c.Told, c.Harm > 0
		jobs[i].With = others.Of(jobs[i].Scenario.Name, jobs[i].Seed)
	}
	err = simulated(ctx, s, jobs, report.add)
	if err == nil {
		err = report.end()
	}
	if err != nil || c.Plot == "" {
		return err
	}
	return c.Plot.draw(simulate.ChartSuite(&report.cells))
}

// scenarios returns the scenarios of the suite.
func (c simSuiteCommand) scenarios() ([]sim.Scenario, error) {
	if c.Named {
		return suites.Named(), nil
	}
	count, draw := c.Random, suites.Random
	switch {
	case c.Harm > 0:
		count, draw = c.Harm, suites.Harm
	case c.Shared > 0:
		count, draw = c.Shared, suites.Shared
	}
	if c.Seed > math.MaxUint64-uint64(count) {
		return nil, fmt.Errorf("--seed: %d: want room for %d more", c.Seed, count)
	}
	scenarios := make([]sim.Scenario, count)
	for i := range scenarios {
		scenarios[i] = draw(c.Seed + uint64(i))
	}
	return scenarios, nil
}

// simulated runs the jobs, with a progress bar on a terminal.
func simulated(ctx context.Context, s streams, jobs []simulate.Job, each func(simulate.Outcome) error) error {
	var progress func(int)
	if isTerminal(s.err) {
		bar := progressBar{out: s.err, total: len(jobs)}
		defer bar.clear()
		progress = bar.show
		report := each
		each = func(o simulate.Outcome) error {
			bar.clear() // each may print to the same terminal
			return report(o)
		}
	}
	err := simulate.Run(ctx, jobs, progress, each)
	if refused := new(simulate.InputError); errors.As(err, &refused) {
		return usageError{err}
	}
	return err
}
