package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

type simCommand struct {
	Overview helpOfGroup `cmd:"" default:"1" hidden:""`

	Run   simRunCommand   `cmd:"" help:"Run laws on scenarios."`
	Suite simSuiteCommand `cmd:"" help:"Run laws on the named suite or on random systems, and sum up."`
	Trace simTraceCommand `cmd:"" help:"Run laws on requests that were recorded."`
}

type lawFlags struct {
	Law   []law.Law `sep:"none" placeholder:"LAW" help:"Control law, such as 'little(alpha=0.3)': ${laws}; may be repeated. Defaults to the scenario's own, or else setpoint. See weir help laws."`
	Seeds int       `type:"repeats" default:"1" placeholder:"N" help:"How many seeds to run each law with (default ${default})."`
	Seed  uint64    `default:"1" placeholder:"S" help:"The first of them (default ${default})."`
	Queue sim.Queue `placeholder:"KIND" help:"Put this queue in front of every law: adaptive, or how many may wait for up to a second. Goodput is then shown uncapped as well, as a queue may do better than the best limit without."`
	JSON  bool      `name:"json" help:"Print one JSON object a line for each law and seed."`
}

func (f lawFlags) jobs(scenarios []sim.Scenario) []simulate.Job {
	if f.Queue != (sim.Queue{}) {
		scenarios = slices.Clone(scenarios)
		for i := range scenarios {
			scenarios[i].Limiter.Queue = f.Queue
		}
	}
	return simulate.Jobs(scenarios, f.Law, f.Seed, f.Seeds)
}

func report(ctx context.Context, s streams, jobs []simulate.Job, r reporter) error {
	if err := simulated(ctx, s, jobs, r.add); err != nil {
		return err
	}
	return r.end()
}

// seriesFlags select the figures to show over time.
type seriesFlags struct {
	Every time.Duration `type:"span" placeholder:"TIME" help:"Print limit, in flight, queued, p95, admitted and refused so often, and no scores."`
	Plot  string        `type:"plot" placeholder:"FILE" help:"Draw it to this file too, as SVG, which browsers show."`
	Panel panels        `placeholder:"NAME,..." help:"What --plot draws: ${panels}. Defaults to all of them."`
}

// panels are the panels of a chart over time. Each use of the flag adds panels.
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

type simRunCommand struct {
	Scenario []string `arg:"" help:"Name of a scenario, or a file: .json, .yaml or .yml."`

	lawFlags
	seriesFlags
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
	return c.run(ctx, s, scenarios, c.lawFlags, &scores{out: s.out, json: c.JSON})
}

// run prints and draws the results of weir sim run and weir sim trace. With Every, it prints a time
// series instead of the report.
func (f seriesFlags) run(ctx context.Context, s streams, scenarios []sim.Scenario, laws lawFlags, r reporter) error {
	switch {
	case len(f.Panel) > 0 && f.Plot == "":
		return usageError{errors.New("--panel: says what --plot draws: want --plot FILE as well")}
	case f.Plot != "" && len(scenarios) > simulate.MostPlotted:
		return usageError{fmt.Errorf("--plot: %d scenarios: want %d at most", len(scenarios), simulate.MostPlotted)}
	}
	for i := range scenarios {
		if length := simulate.Length(scenarios[i]); f.Every > length {
			return usageError{fmt.Errorf("--every: %v: want at most %v, the length of %s", f.Every, length, scenarios[i].Name)}
		}
		if f.Every > 0 {
			scenarios[i].Sample = f.Every
		}
	}
	jobs := laws.jobs(scenarios)
	for i := range jobs {
		jobs[i].Unscored = f.Every > 0 && f.Plot == ""
	}
	if f.Every > 0 {
		r = &series{out: s.out, json: laws.JSON}
	}
	if f.Plot == "" {
		return report(ctx, s, jobs, r)
	}
	picture, err := openPlot(f.Plot)
	if err != nil {
		return err
	}
	defer picture.Close()
	first := &firstSeed{reporter: r, seed: laws.Seed}
	if err := report(ctx, s, jobs, first); err != nil {
		return err
	}
	drawn, err := simulate.ChartRun(first.outcomes, f.Panel...)
	if err != nil {
		return err
	}
	if err := picture.Truncate(0); err != nil {
		return err
	}
	_, err = drawn.WriteTo(picture)
	return err
}

// openPlot opens the file of a picture, before a simulation that may take minutes. It leaves the
// file unchanged.
func openPlot(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // others may look at a picture
	if err != nil {
		return nil, usageError{fmt.Errorf("--plot: %q cannot be written: %w: want a file in a folder where you may write", name, paths.Cause(err))}
	}
	return file, nil
}

// firstSeed keeps the outcomes of the first seed, for the chart.
type firstSeed struct {
	reporter

	seed     uint64
	outcomes []simulate.Outcome
}

func (f *firstSeed) add(o simulate.Outcome) error {
	if o.Job.Seed == f.seed {
		f.outcomes = append(f.outcomes, o)
	}
	return f.reporter.add(o)
}

type simSuiteCommand struct {
	Named    bool `xor:"suite" required:"" help:"Run the named suite."`
	Random   int  `type:"repeats" xor:"suite" required:"" placeholder:"N" help:"Run so many random systems, drawn with seeds from --seed on."`
	Harm     int  `type:"repeats" xor:"suite" required:"" placeholder:"N" help:"Run so many systems in which limiters do harm, drawn like random ones, and compare with no limit and a fixed 20 as well."`
	Shared   int  `type:"repeats" xor:"suite" required:"" placeholder:"N" help:"Run so many systems of 2 to 16 limiters before one server, drawn like random ones."`
	Pushback int  `type:"repeats" xor:"suite" required:"" placeholder:"N" help:"Run so many systems whose server refuses work above a limit that clients do not know, drawn like random ones."`

	lawFlags
	Summary bool     `help:"Print the summary of each law only: with --json one object a line, with null where there is nothing to compare."`
	Regimes bool     `help:"Sum up each law in each regime as well, which --harm, --shared and --pushback do anyway: the kinds of systems, or with --random those with several limiters apart."`
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
	r := &scores{out: s.out, json: c.JSON, parts: shown}
	r.regimes = c.Regimes || c.Harm > 0 || c.Shared > 0 || c.Pushback > 0
	others, err := simulate.ReadScores(c.With)
	if err != nil {
		return usageError{err}
	}
	jobs := c.jobs(scenarios)
	for i := range jobs {
		jobs[i].Oracles, jobs[i].Told, jobs[i].Harm, jobs[i].With = oraclecache.Cache(c.Oracles), c.Told, c.Harm > 0, others
	}
	return report(ctx, s, jobs, r)
}

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
	case c.Pushback > 0:
		count, draw = c.Pushback, suites.Pushback
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

// simulated runs the jobs, and shows the number of ended jobs on a terminal.
func simulated(ctx context.Context, s streams, jobs []simulate.Job, each func(simulate.Outcome) error) error {
	if isTerminal(s.err) {
		blank := "\r" + strings.Repeat(" ", 40) + "\r" // erases the line
		defer fmt.Fprint(s.err, blank)
		report, done := each, 0
		each = func(o simulate.Outcome) error {
			fmt.Fprint(s.err, blank) // report may print to the same terminal
			err := report(o)
			done++
			fmt.Fprintf(s.err, "%d of %d simulated", done, len(jobs))
			return err
		}
	}
	err := simulate.Run(ctx, jobs, each)
	if refused := new(simulate.InputError); errors.As(err, &refused) {
		return usageError{err}
	}
	return err
}
