package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/sim"
)

// A form is an output format.
type form int

const (
	asTable form = iota
	asJSON
	asCSV
)

// A reporter prints outcomes: lines at once, a table at the end.
type reporter interface {
	add(o simulate.Outcome) error
	end() error
}

// scores reports the scores of laws.
type scores struct {
	out     io.Writer
	form    form
	parts   parts
	regimes bool // sums up each regime too
	queued  bool // a queue may beat the oracle, which has none
	harmed  bool // with a baseline
	shared  bool // some scenarios have several limiters
	cells   simulate.Cells
	csv     *csv.Writer
	headed  bool
}

// parts selects the tables to print.
type parts int

const (
	noSummary parts = iota
	withSummary
	summaryOnly
)

func newScores(out io.Writer, form form, parts parts) *scores {
	return &scores{out: out, form: form, parts: parts, csv: csv.NewWriter(out)}
}

func (r *scores) add(o simulate.Outcome) error {
	r.cells.Add(o)
	r.queued = r.queued || o.Job.Scenario.Limiter.Queue != sim.Queue{}
	for _, s := range o.Scores {
		r.harmed = r.harmed || s.Harm != nil
		r.shared = r.shared || s.Jain > 0
	}
	if r.parts == summaryOnly {
		return nil
	}
	switch r.form {
	case asJSON:
		return writeLines(r.out, o.Scores)
	case asCSV:
		if !r.headed {
			r.headed = true
			_ = r.csv.Write(scoreColumns) // Error reports it
		}
		for _, s := range o.Scores {
			_ = r.csv.Write(scoreRecord(s))
		}
		r.csv.Flush()
		return r.csv.Error()
	}
	return nil
}

var scoreColumns = []string{
	"scenario", "law", "seed", "goodput_pct", "phase_goodput_pct", "goodput_uncapped_pct", "p99_ratio",
	"convergence_s", "limit_mean", "limit_cv", "refused", "false_refused", "refused_probing", "late",
	"regime", "start_phases", "start_goodput_pct", "jain", "phase_good", "phase_good_unlimited", "phase_good_fixed20",
}

func scoreRecord(s sim.Score) []string {
	record := []string{s.Scenario, s.Law, strconv.FormatUint(s.Seed, 10), exact(s.Goodput), each(s.Phases, " ", exact)}
	for _, v := range []float64{s.Uncapped, s.P99Ratio, s.Convergence, s.LimitMean, s.LimitCV, s.Refused, s.FalseRefused, s.Probed, s.Late} {
		record = append(record, exact(v))
	}
	record = append(record, s.Regime, strconv.Itoa(s.Starts), ifAny(s.Starts > 0, s.StartGoodput), ifAny(s.Jain > 0, s.Jain))
	var good, unlimited, twenty []string
	if s.Harm != nil {
		for i, of := range s.Harm.Possible {
			good = append(good, strconv.Itoa(s.Harm.Good[i]))
			unlimited = append(unlimited, strconv.Itoa(of.Unlimited))
			twenty = append(twenty, strconv.Itoa(of.Twenty))
		}
	}
	return append(record, strings.Join(good, " "), strings.Join(unlimited, " "), strings.Join(twenty, " "))
}

// ifAny returns an optional figure as text, empty if it is missing.
func ifAny(there bool, v float64) string {
	if !there {
		return ""
	}
	return exact(v)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func each(values []float64, separator string, format func(float64) string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = format(v)
	}
	return strings.Join(texts, separator)
}

func (r *scores) end() error {
	if r.parts == summaryOnly {
		return r.sumUp()
	}
	if r.form != asTable {
		return nil
	}
	if err := r.table(); err != nil || r.parts == noSummary {
		return err
	}
	fmt.Fprintln(r.out)
	return r.sumUp()
}

func (r *scores) table() error {
	t := table{left: 2}
	t.row("scenario", "law", "goodput %", only(r.queued, "uncapped %"), "worst seed", "phases %", "p99x", "conv s", "limit", "cv", "refused %", "false %", "late %",
		only(r.shared, "jain"), only(r.harmed, "harm: share %"), only(r.harmed, "start %"), only(r.harmed, "start share %"))
	last := ""
	for _, c := range r.cells.List() {
		name := c.Scenario
		if name == last {
			name = ""
		}
		last = c.Scenario
		m := c.Mean
		t.row(name, c.Law, tenths(m.Goodput), only(r.queued, tenths(m.Uncapped)), tenths(c.Worst), each(m.Phases, " ", whole), hundredths(m.P99Ratio), tenths(m.Convergence),
			tenths(m.LimitMean), hundredths(m.LimitCV), hundredths(100*m.Refused), hundredths(100*m.FalseRefused), hundredths(100*m.Late),
			only(r.shared, hundredths(m.Jain)), only(r.harmed, tenths(c.Share())), only(r.harmed, tenths(m.StartGoodput)), only(r.harmed, tenths(c.StartShare())))
	}
	return t.write(r.out)
}

// only returns the field of an optional column.
func only(there bool, field string) string {
	if !there {
		return noColumn
	}
	return field
}

func whole(v float64) string      { return strconv.FormatFloat(v, 'f', 0, 64) }
func tenths(v float64) string     { return decimals(v, 1) }
func hundredths(v float64) string { return decimals(v, 2) }

func decimals(v float64, n int) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}
