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
	Law   lawFlag    `required:"" placeholder:"LAW" help:"The law to tune: ${laws}."`
	Vary  []variable `required:"" sep:"none" placeholder:"SETTING=V,V,..." help:"Values to try for a setting; once or twice. Every combination is tried."`
	Seeds repeats    `default:"3" placeholder:"N" help:"How many seeds to search with, and as many to check the best with (default ${default})."`
	Seed  uint64     `default:"1" placeholder:"S" help:"The first of them (default ${default})."`
	JSON  bool       `name:"json" help:"Print one JSON object a line for each law, best first, and then, with held_out true, the law as it was and the best on seeds that the search did not see."`
}

// mostVaried is the largest number of settings to vary: more would make the grid too large.
const mostVaried = 2

// A variable is a setting and the values to try.
type variable struct {
	name   string
	values []string
}

func (v *variable) UnmarshalText(text []byte) error {
	name, values, found := strings.Cut(string(text), "=")
	v.name, v.values = strings.TrimSpace(name), strings.Split(values, ",")
	if !found || v.name == "" || slices.Contains(v.values, "") {
		return fmt.Errorf("%q: want a setting and its values, such as alpha=0.1,0.3,0.5", text)
	}
	return nil
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
	found, err := c.measure(ctx, s, scenarios, laws, c.Seed)
	if err != nil {
		return err
	}
	base := found[0].Law
	slices.SortStableFunc(found, func(a, b simulate.Summary) int { return cmp.Compare(b.Goodput, a.Goodput) })
	if c.JSON {
		err = writeLines(s.out, c.lines(found, c.Seed))
	} else {
		err = tuned(found).write(s.out)
	}
	if err != nil {
		return err
	}
	return c.check(ctx, s, scenarios, found[0].Law, base)
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

// A tuning is a line of JSON.
type tuning struct {
	simulate.Summary

	Seed    uint64 `json:"seed"` // the first seed
	Seeds   int    `json:"seeds"`
	HeldOut bool   `json:"held_out"` // seeds that the search did not use
}

func (c simTuneCommand) lines(summaries []simulate.Summary, seed uint64) (lines []tuning) {
	for _, s := range summaries {
		lines = append(lines, tuning{s, seed, int(c.Seeds), seed != c.Seed})
	}
	return lines
}

func tuned(found []simulate.Summary) *table {
	t := &table{left: 1}
	t.row("law", "mean %", "worst", "worst phase", "p99x median", "conv s", "cv", "false %", "late %")
	for _, f := range found {
		t.row(f.Law, tenths(f.Goodput), tenths(f.Worst), tenths(f.WorstPhase), hundredths(f.P99Ratio), tenths(f.Convergence),
			hundredths(f.LimitCV), hundredths(100*f.FalseRefused), hundredths(100*f.Late))
	}
	return t
}

// check compares the best law with the original one on seeds that the search did not use.
func (c simTuneCommand) check(ctx context.Context, s streams, scenarios []sim.Scenario, best, base string) error {
	if best == base && c.JSON {
		return nil
	}
	if best == base {
		_, err := fmt.Fprintf(s.out, "\nNo setting is better than %s as it is.\n", base)
		return err
	}
	tuned, err := law.Parse(best)
	if err != nil {
		return err
	}
	from := c.Seed + uint64(c.Seeds)
	fresh, err := c.measure(ctx, s, scenarios, []law.Law{c.Law.law, tuned}, from)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLines(s.out, c.lines(fresh, from))
	}
	_, err = fmt.Fprintf(s.out, "\nWith seeds %d to %d, which the search did not see, %s has %.1f%% and %s %.1f%%: %+.1f points.\n",
		from, from+uint64(c.Seeds)-1, best, fresh[1].Goodput, base, fresh[0].Goodput, fresh[1].Goodput-fresh[0].Goodput)
	return err
}

func (c simTuneCommand) measure(ctx context.Context, s streams, scenarios []sim.Scenario, laws []law.Law, seed uint64) ([]simulate.Summary, error) {
	var cells simulate.Cells
	err := simulated(ctx, s, simulate.Jobs(scenarios, laws, nil, seed, int(c.Seeds)), func(o simulate.Outcome) error {
		cells.Add(o)
		return nil
	})
	return cells.Summaries(), err
}

// candidates returns the original law, then each combination of settings.
func (c simTuneCommand) candidates() ([]law.Law, error) {
	if len(c.Vary) > mostVaried {
		return nil, fmt.Errorf("--vary: %d settings: want %d at most", len(c.Vary), mostVaried)
	}
	texts := []string{fmt.Sprint(c.Law.law)}
	for _, v := range c.Vary {
		var next []string
		for _, text := range texts {
			for _, value := range v.values {
				next = append(next, with(text, v.name, strings.TrimSpace(value)))
			}
		}
		texts = next
	}
	laws := []law.Law{c.Law.law}
	seen := []string{fmt.Sprint(c.Law.law)}
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
