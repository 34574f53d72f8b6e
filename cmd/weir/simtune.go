package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

type simTuneCommand struct {
	Scenario []string `arg:"" help:"Name of a scenario, a file, or a log: .csv, .tsv, .log, .txt, .jsonl or .ndjson, for which the flags say how to read it and what it meets."`

	logFlags
	systemFlags
	Law   law.Law    `required:"" placeholder:"LAW" help:"The law to tune: ${laws}."`
	Vary  []variable `required:"" sep:"none" placeholder:"SETTING=V,V,..." help:"Values to try for a setting; once or twice. Every combination is tried."`
	Seeds int        `type:"repeats" default:"3" placeholder:"N" help:"How many seeds to search with, and as many to check the best with (default ${default})."`
	Seed  uint64     `default:"1" placeholder:"S" help:"The first of them (default ${default})."`
	JSON  bool       `name:"json" help:"Print one JSON object a line for each law, best first, and then, with held_out true, the law as it was and the best on seeds that the search did not see."`
}

// Run searches on some seeds and reports the gain of the best law on others, because the gain
// on the seeds of the search is too optimistic.
func (c simTuneCommand) Run(ctx context.Context, s streams) error {
	laws, err := c.candidates()
	if err != nil {
		return usageError{err}
	}
	var scenarios []sim.Scenario
	for _, name := range c.Scenario {
		loaded, err := c.load(name)
		if err != nil {
			return usageError{err}
		}
		scenarios = append(scenarios, loaded...)
	}
	measure := func(laws []law.Law, seed uint64) ([]summary, error) {
		var cells simulate.Cells
		err := simulated(ctx, s, simulate.Jobs(scenarios, laws, seed, c.Seeds), func(o simulate.Outcome) error {
			cells.Add(o)
			return nil
		})
		return cells.Summaries(), err
	}
	found, err := measure(laws, c.Seed)
	if err != nil {
		return err
	}
	base := found[0].Law
	slices.SortStableFunc(found, func(a, b summary) int { return cmp.Compare(b.Goodput, a.Goodput) })
	best := found[0].Law
	if err := c.print(s, found, c.Seed); err != nil {
		return err
	}
	if best == base {
		return c.say(s, "\nNo setting is better than %s as it is.\n", base)
	}
	tuned, err := law.Parse(best)
	if err != nil {
		return err
	}
	from := c.Seed + uint64(c.Seeds)
	fresh, err := measure([]law.Law{c.Law, tuned}, from)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.print(s, fresh, from)
	}
	return c.say(s, "\nWith seeds %d to %d, which the search did not see, %s has %.1f%% and %s %.1f%%: %+.1f points.\n",
		from, from+uint64(c.Seeds)-1, best, fresh[1].Goodput, base, fresh[0].Goodput, fresh[1].Goodput-fresh[0].Goodput)
}

// say prints a sentence below the table.
func (c simTuneCommand) say(s streams, format string, args ...any) error {
	if c.JSON {
		return nil
	}
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}

type tuning struct {
	simulate.Summary

	Seed    uint64 `json:"seed"` // the first seed
	Seeds   int    `json:"seeds"`
	HeldOut bool   `json:"held_out"` // seeds that the search did not use
}

// print prints the results of laws on some seeds.
func (c simTuneCommand) print(s streams, summaries []summary, seed uint64) error {
	if !c.JSON {
		return tableOf(summaryColumns, 1, byTuning, 0, summaries).write(s.out)
	}
	var lines []tuning
	for _, of := range summaries {
		lines = append(lines, tuning{of, seed, c.Seeds, seed != c.Seed})
	}
	return printLines(&linePrinter{out: s.out, form: asJSON}, lines)
}

// logEndings are the file name endings of logs.
var logEndings = []string{".csv", ".tsv", ".log", ".txt", ".jsonl", ".ndjson"}

func (c simTuneCommand) load(name string) ([]sim.Scenario, error) {
	if slices.Contains(logEndings, filepath.Ext(name)) {
		return c.replay(name, c.logFlags)
	}
	scenario, err := simulate.Load(name)
	return []sim.Scenario{scenario}, err
}

// mostVaried is the largest number of settings to vary: more would make the grid too large.
const mostVaried = 2

// candidates returns the original law, then each combination of settings.
func (c simTuneCommand) candidates() ([]law.Law, error) {
	if len(c.Vary) > mostVaried {
		return nil, fmt.Errorf("--vary: %d settings: want %d at most", len(c.Vary), mostVaried)
	}
	texts := []string{fmt.Sprint(c.Law)}
	for _, v := range c.Vary {
		var next []string
		for _, text := range texts {
			for _, value := range v.values {
				next = append(next, with(text, v.name, strings.TrimSpace(value)))
			}
		}
		texts = next
	}
	laws := []law.Law{c.Law}
	seen := []string{fmt.Sprint(c.Law)}
	for _, text := range texts {
		l, err := law.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--vary: %s: %w", strconv.Quote(text), err)
		}
		if canonical := fmt.Sprint(l); !slices.Contains(seen, canonical) {
			seen = append(seen, canonical)
			laws = append(laws, l)
		}
	}
	if len(laws) == 1 {
		return nil, errors.New("--vary: has only the value that the law has: want others")
	}
	return laws, nil
}

// with returns the text of a law with one setting changed.
func with(text, name, value string) string {
	kind, rest, _ := strings.Cut(text, "(")
	var settings []string
	for setting := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
		if had, _, _ := strings.Cut(setting, "="); setting != "" && strings.TrimSpace(had) != name {
			settings = append(settings, setting)
		}
	}
	settings = append(settings, name+"="+value)
	return kind + "(" + strings.Join(settings, ",") + ")"
}
