package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
)

// A column of a table of the simulator. help/columns.txt explains it.
type column[T any] struct {
	head  string
	in    tables   // that have the column; 0 means all tables
	needs features // without which the column is left out
	text  func(row T) string
}

// tables are the tables that share columns. A column that names no table is in all tables.
type tables uint8

const (
	byLaw tables = 1 << iota
	byRegime
)

// features are properties that only some outcomes have.
type features uint8

const (
	queued features = 1 << iota // a queue may beat the oracle, which has none
	harmed                      // with a baseline
	shared                      // some scenarios have several limiters
	pushed                      // servers refuse work
)

// tableOf returns one of the tables with the rows. With two columns on the left, it does not repeat
// a value of the first column.
func tableOf[T any](columns []column[T], left int, in tables, has features, rows []T) *table {
	t, last := &table{left: left}, ""
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column[T]) bool {
		return c.needs&^has != 0 || c.in != 0 && c.in&in == 0
	})
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	t.row(heads...)
	for _, row := range rows {
		fields := make([]string, len(columns))
		for i, c := range columns {
			fields[i] = c.text(row)
		}
		if first := fields[0]; left == 2 {
			if first == last {
				fields[0] = ""
			}
			last = first
		}
		t.row(fields...)
	}
	return t
}

type (
	cell    = simulate.Cell
	summary = simulate.Summary
)

var cellColumns = []column[*cell]{
	{"scenario", 0, 0, func(c *cell) string { return c.Scenario }},
	{"law", 0, 0, func(c *cell) string { return c.Law }},
	{"goodput %", 0, 0, func(c *cell) string { return tenths(c.Mean.Goodput) }},
	{"uncapped %", 0, queued, func(c *cell) string { return tenths(c.Mean.Uncapped) }},
	{"worst seed", 0, 0, func(c *cell) string { return tenths(c.Worst) }},
	{"phases %", 0, 0, func(c *cell) string { return each(c.Mean.Phases, whole) }},
	{"p99x", 0, 0, func(c *cell) string { return hundredths(c.Mean.P99Ratio) }},
	{"conv s", 0, 0, func(c *cell) string { return tenths(c.Mean.Convergence) }},
	{"limit", 0, 0, func(c *cell) string { return tenths(c.Mean.LimitMean) }},
	{"cv", 0, 0, func(c *cell) string { return hundredths(c.Mean.LimitCV) }},
	{"refused %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.Refused) }},
	{"false %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.FalseRefused) }},
	{"pushed %", 0, pushed, func(c *cell) string { return hundredths(100 * c.Mean.Pushed) }},
	{"late %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.Late) }},
	{"jain", 0, shared, func(c *cell) string { return hundredths(c.Mean.Jain) }},
	{"harm: share %", 0, harmed, func(c *cell) string { return tenths(c.Share()) }},
	{"start %", 0, harmed, func(c *cell) string { return tenths(c.Mean.StartGoodput) }},
	{"start share %", 0, harmed, func(c *cell) string { return tenths(c.StartShare()) }},
}

var summaryColumns = []column[summary]{
	{"regime", byRegime, 0, func(s summary) string { return s.Regime }},
	{"law", 0, 0, func(s summary) string { return s.Law }},
	{"scenarios", byLaw | byRegime, 0, func(s summary) string { return strconv.Itoa(s.Scenarios) }},
	{"mean %", 0, 0, func(s summary) string { return tenths(s.Goodput) }},
	{"95% interval", byLaw, 0, func(s summary) string { return "± " + tenths(s.Interval) }},
	{"uncapped %", byLaw, queued, func(s summary) string { return tenths(s.Uncapped) }},
	{"p10", byLaw | byRegime, 0, func(s summary) string { return tenths(s.Tenth) }},
	{"worst", 0, 0, func(s summary) string { return tenths(s.Worst) }},
	{"worst phase", byLaw, 0, func(s summary) string { return tenths(s.WorstPhase) }},
	{"worst seed/mean", byLaw, 0, func(s summary) string { return hundredths(s.Steady) }},
	{"p99x median", byLaw, 0, func(s summary) string { return hundredths(s.P99Ratio) }},
	{"conv s", byLaw, 0, func(s summary) string { return tenths(s.Convergence) }},
	{"cv", byLaw, 0, func(s summary) string { return hundredths(s.LimitCV) }},
	{"false %", 0, 0, func(s summary) string { return hundredths(100 * s.FalseRefused) }},
	{"pushed %", 0, pushed, func(s summary) string { return hundredths(100 * s.Pushed) }},
	{"late %", 0, 0, func(s summary) string { return hundredths(100 * s.Late) }},
	{"jain", byLaw | byRegime, shared, func(s summary) string { return decimals(float64(s.Jain), 3) }},
	{"worst jain", byLaw, shared, func(s summary) string { return decimals(float64(s.JainWorst), 3) }},
	{"harm: p1 %", byLaw, harmed, func(s summary) string { return tenths(s.HarmFirst) }},
	{"worst %", byLaw, harmed, func(s summary) string { return tenths(s.HarmWorst) }},
	{"harm: worst %", byRegime, harmed, func(s summary) string { return tenths(s.HarmWorst) }},
	{"97% kept in %", byLaw | byRegime, harmed, func(s summary) string { return tenths(100 * s.Harmless) }},
	{"start mean %", byLaw | byRegime, harmed, func(s summary) string { return tenths(s.StartGoodput) }},
	{"start worst %", byLaw | byRegime, harmed, func(s summary) string { return tenths(s.StartWorst) }},
	{"over the first", byLaw, 0, margin},
}

var choiceColumns = []column[summary]{
	{"goodput %", 0, 0, func(s summary) string { return s.Law }},
	{"mean", 0, 0, func(s summary) string { return tenths(s.Goodput) }},
	{"worst", 0, 0, func(s summary) string { return tenths(s.Worst) }},
	{"over the default", 0, 0, margin},
	{"p99x", 0, 0, func(s summary) string { return hundredths(s.P99Ratio) }},
	{"false %", 0, 0, func(s summary) string { return hundredths(100 * s.FalseRefused) }},
	{"late %", 0, 0, func(s summary) string { return hundredths(100 * s.Late) }},
}

var momentColumns = []column[moment]{
	{"time s", 0, 0, func(m moment) string { return exact(m.At) }},
	{"limit", 0, 0, func(m moment) string { return strconv.Itoa(m.Limit) }},
	{"in flight", 0, 0, func(m moment) string { return strconv.Itoa(m.InFlight) }},
	{"queued", 0, 0, func(m moment) string { return strconv.Itoa(m.Queued) }},
	{"p95 ms", 0, 0, func(m moment) string { return tenths(1000 * m.P95) }},
	{"admitted/s", 0, 0, func(m moment) string { return whole(m.Admitted) }},
	{"refused/s", 0, 0, func(m moment) string { return whole(m.Refused) }},
}

func margin(s summary) string {
	if math.IsNaN(float64(s.Margin)) {
		return ""
	}
	return fmt.Sprintf("%+.1f ± %s", s.Margin, tenths(s.MarginInterval))
}

func each(values []float64, format func(float64) string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = format(v)
	}
	return strings.Join(texts, " ")
}

func exact(v float64) string            { return strconv.FormatFloat(v, 'g', -1, 64) }
func whole(v float64) string            { return decimals(v, 0) }
func tenths[F ~float64](v F) string     { return decimals(float64(v), 1) }
func hundredths[F ~float64](v F) string { return decimals(float64(v), 2) }

func decimals(v float64, n int) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}
