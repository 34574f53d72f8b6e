package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
)

// A column of a table of the simulator. Printing the table and weir help columns both use it.
type column[T any] struct {
	head  string
	in    tables   // that have it; all of them if it is 0
	needs features // without which it is left out
	text  func(row T) string
	about string
}

// tables are the tables that share columns. A column without any is in all of them.
type tables uint8

const (
	byLaw tables = 1 << iota
	byRegime
)

// features are properties of outcomes that not all of them have.
type features uint8

const (
	queued features = 1 << iota // a queue may beat the oracle, which has none
	harmed                      // with a baseline
	shared                      // some scenarios have several limiters
	pushed                      // servers refuse work
)

// tableOf prints the rows in one of the tables. With two columns on the left, it does not
// repeat the first one.
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

func explanations[T any](columns []column[T]) (list []definition) {
	for _, c := range columns {
		list = append(list, definition{c.head, c.about})
	}
	return list
}

type (
	cell    = simulate.Cell
	summary = simulate.Summary
)

var cellColumns = []column[*cell]{
	{"scenario", 0, 0, func(c *cell) string { return c.Scenario }, "its name"},
	{"law", 0, 0, func(c *cell) string { return c.Law }, "the law, with the settings that it was given"},
	{"goodput %", 0, 0, func(c *cell) string { return tenths(c.Mean.Goodput) }, "what was good, in percent of the oracle's, at most 100, after the start"},
	{"uncapped %", 0, queued, func(c *cell) string { return tenths(c.Mean.Uncapped) }, "the same where it may be above 100, as a queue may do better than the oracle, which has none"},
	{"worst seed", 0, 0, func(c *cell) string { return tenths(c.Worst) }, "goodput % of the worst seed"},
	{"phases %", 0, 0, func(c *cell) string { return each(c.Mean.Phases, whole) }, "goodput % of each phase"},
	{"p99x", 0, 0, func(c *cell) string { return hundredths(c.Mean.P99Ratio) }, "the p99 of the latency of answers, over the oracle's"},
	{"conv s", 0, 0, func(c *cell) string { return tenths(c.Mean.Convergence) }, "seconds from the beginning of a phase until 90% of the oracle's goodput is held for 3 s; of the worst phase"},
	{"limit", 0, 0, func(c *cell) string { return tenths(c.Mean.LimitMean) }, "mean limit in the latter half of each phase"},
	{"cv", 0, 0, func(c *cell) string { return hundredths(c.Mean.LimitCV) }, "its coefficient of variation there: how restless it is"},
	{"refused %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.Refused) }, "requests that were refused, of all"},
	{"false %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.FalseRefused) }, "requests that were refused while the oracle had room for all"},
	{"pushed %", 0, pushed, func(c *cell) string { return hundredths(100 * c.Mean.Pushed) }, "work that the server refused, of the work that was sent"},
	{"late %", 0, 0, func(c *cell) string { return hundredths(100 * c.Mean.Late) }, "answers that came after the SLO"},
	{"jain", 0, shared, func(c *cell) string { return hundredths(c.Mean.Jain) }, "with several limiters, how fair they are to one another: 1 if each gets its part"},
	{"harm: share %", 0, harmed, func(c *cell) string { return tenths(c.Share()) }, "of what no limit or a fixed 20, whichever is better, has good, in the worst phase after the start"},
	{"start %", 0, harmed, func(c *cell) string { return tenths(c.Mean.StartGoodput) }, "goodput % of the start"},
	{"start share %", 0, harmed, func(c *cell) string { return tenths(c.StartShare()) }, "harm: share % of the start"},
}

var summaryColumns = []column[summary]{
	{"regime", byRegime, 0, func(s summary) string { return s.Regime }, "the kind of systems"},
	{"law", 0, 0, func(s summary) string { return s.Law }, "the law"},
	{"scenarios", byLaw | byRegime, 0, func(s summary) string { return strconv.Itoa(s.Scenarios) }, "how many there are"},
	{"mean %", 0, 0, func(s summary) string { return tenths(s.Goodput) }, "goodput % over all scenarios"},
	{"95% interval", byLaw, 0, func(s summary) string { return "± " + tenths(s.Interval) }, "half of it: the mean is within so much with 95% confidence"},
	{"uncapped %", byLaw, queued, func(s summary) string { return tenths(s.Uncapped) }, "the mean of uncapped %"},
	{"p10", byLaw | byRegime, 0, func(s summary) string { return tenths(s.Tenth) }, "goodput % of the scenario below which a tenth of them are"},
	{"worst", 0, 0, func(s summary) string { return tenths(s.Worst) }, "goodput % of the worst scenario"},
	{"worst phase", byLaw, 0, func(s summary) string { return tenths(s.WorstPhase) }, "goodput % of the worst phase, the mean over scenarios"},
	{"worst seed/mean", byLaw, 0, func(s summary) string { return hundredths(s.Steady) }, "worst seed over goodput %, in the scenario where that is least"},
	{"p99x median", byLaw, 0, func(s summary) string { return hundredths(s.P99Ratio) }, "the median of p99x"},
	{"conv s", byLaw, 0, func(s summary) string { return tenths(s.Convergence) }, "the mean of conv s above, as are cv, false %, pushed %, late % and jain"},
	{"cv", byLaw, 0, func(s summary) string { return hundredths(s.LimitCV) }, "see conv s"},
	{"false %", 0, 0, func(s summary) string { return hundredths(100 * s.FalseRefused) }, "see conv s"},
	{"pushed %", 0, pushed, func(s summary) string { return hundredths(100 * s.Pushed) }, "see conv s"},
	{"late %", 0, 0, func(s summary) string { return hundredths(100 * s.Late) }, "see conv s"},
	{"jain", byLaw | byRegime, shared, func(s summary) string { return decimals(float64(s.Jain), 3) }, "see conv s"},
	{"worst jain", byLaw, shared, func(s summary) string { return decimals(float64(s.JainWorst), 3) }, "of the worst scenario"},
	{"harm: p1 %", byLaw, harmed, func(s summary) string { return tenths(s.HarmFirst) }, "harm: share % of the scenario below which a hundredth of them are"},
	{"worst %", byLaw, harmed, func(s summary) string { return tenths(s.HarmWorst) }, "harm: share % of the worst scenario"},
	{"harm: worst %", byRegime, harmed, func(s summary) string { return tenths(s.HarmWorst) }, "the same, for a regime"},
	{"97% kept in %", byLaw | byRegime, harmed, func(s summary) string { return tenths(100 * s.Harmless) }, "of the scenarios, harm: share % is 97 or more"},
	{"start mean %", byLaw | byRegime, harmed, func(s summary) string { return tenths(s.StartGoodput) }, "the mean of start %"},
	{"start worst %", byLaw | byRegime, harmed, func(s summary) string { return tenths(s.StartWorst) }, "the least start share %"},
	{"over the first", byLaw, 0, margin, "goodput % above that of the first law, scenario by scenario, and half of its 95% interval"},
}

var choiceColumns = []column[summary]{
	{"goodput %", 0, 0, func(s summary) string { return s.Law }, "the law, and below the names of up to 6 scenarios, which come last, its goodput % in each"},
	{"mean", 0, 0, func(s summary) string { return tenths(s.Goodput) }, "goodput % over all scenarios"},
	{"worst", 0, 0, func(s summary) string { return tenths(s.Worst) }, "goodput % of the worst"},
	{"over the default", 0, 0, margin, "goodput % above that of the default law, and half of its 95% interval"},
	{"p99x", 0, 0, func(s summary) string { return hundredths(s.P99Ratio) }, "the median of p99x"},
	{"false %", 0, 0, func(s summary) string { return hundredths(100 * s.FalseRefused) }, "requests that were refused while the oracle had room for all"},
	{"late %", 0, 0, func(s summary) string { return hundredths(100 * s.Late) }, "answers that came after the SLO"},
}

var momentColumns = []column[moment]{
	{"time s", 0, 0, func(m moment) string { return exact(m.At) }, "seconds since the start"},
	{"limit", 0, 0, func(m moment) string { return strconv.Itoa(m.Limit) }, "the limit, of all limiters together"},
	{"in flight", 0, 0, func(m moment) string { return strconv.Itoa(m.InFlight) }, "requests that were admitted and are not answered"},
	{"queued", 0, 0, func(m moment) string { return strconv.Itoa(m.Queued) }, "requests that wait for a slot"},
	{"p95 ms", 0, 0, func(m moment) string { return tenths(1000 * m.P95) }, "the p95 of the latency of answers, since the line above"},
	{"admitted/s", 0, 0, func(m moment) string { return whole(m.Admitted) }, "requests that were admitted a second, since the line above"},
	{"refused/s", 0, 0, func(m moment) string { return whole(m.Refused) }, "requests that were refused a second, since the line above"},
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
