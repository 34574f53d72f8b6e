package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
)

// sumUp prints a line for each law, and then for each regime and law.
func (r *scores) sumUp() error {
	summaries := r.cells.Summaries()
	var regimes []simulate.Summary
	if r.regimes {
		regimes = r.cells.Regimes()
	}
	switch r.form {
	case asJSON:
		return writeLines(r.out, append(summaries, regimes...))
	case asCSV:
		_ = r.csv.Write(summaryColumns) // Error reports it
		for _, s := range append(summaries, regimes...) {
			_ = r.csv.Write(summaryRecord(s))
		}
		r.csv.Flush()
		return r.csv.Error()
	}
	if err := r.summaryTable(summaries); err != nil || len(regimes) == 0 {
		return err
	}
	fmt.Fprintln(r.out)
	return r.regimeTable(regimes)
}

func (r *scores) summaryTable(summaries []simulate.Summary) error {
	t := table{left: 1}
	t.row("law", "scenarios", "mean %", "95% interval", only(r.queued, "uncapped %"), "p10", "worst", "worst phase", "worst seed/mean", "p99x median",
		"conv s", "cv", "false %", "late %", only(r.shared, "jain"), only(r.shared, "worst jain"), only(r.harmed, "harm: p1 %"), only(r.harmed, "worst %"),
		only(r.harmed, "97% kept in %"), only(r.harmed, "start mean %"), only(r.harmed, "start worst %"), "over the first")
	for _, s := range summaries {
		t.row(s.Law, strconv.Itoa(s.Scenarios), tenths(s.Goodput), "± "+tenths(float64(s.Interval)), only(r.queued, tenths(s.Uncapped)), tenths(s.Tenth), tenths(s.Worst),
			tenths(s.WorstPhase), hundredths(s.Steady), hundredths(s.P99Ratio), tenths(s.Convergence), hundredths(s.LimitCV), hundredths(100*s.FalseRefused),
			hundredths(100*s.Late), only(r.shared, thousandths(s.Jain)), only(r.shared, thousandths(s.JainWorst)), only(r.harmed, tenths(float64(s.HarmFirst))),
			only(r.harmed, tenths(float64(s.HarmWorst))), only(r.harmed, tenths(100*float64(s.Harmless))), only(r.harmed, tenths(float64(s.StartGoodput))),
			only(r.harmed, tenths(float64(s.StartWorst))), margin(s))
	}
	return t.write(r.out)
}

func (r *scores) regimeTable(regimes []simulate.Summary) error {
	t := table{left: 2}
	t.row("regime", "law", "scenarios", "mean %", "p10", "worst", "false %", "late %", only(r.shared, "jain"),
		only(r.harmed, "harm: worst %"), only(r.harmed, "97% kept in %"), only(r.harmed, "start mean %"), only(r.harmed, "start worst %"))
	last := ""
	for _, s := range regimes {
		name := s.Regime
		if name == last {
			name = ""
		}
		last = s.Regime
		t.row(name, s.Law, strconv.Itoa(s.Scenarios), tenths(s.Goodput), tenths(s.Tenth), tenths(s.Worst), hundredths(100*s.FalseRefused), hundredths(100*s.Late),
			only(r.shared, thousandths(s.Jain)), only(r.harmed, tenths(float64(s.HarmWorst))), only(r.harmed, tenths(100*float64(s.Harmless))),
			only(r.harmed, tenths(float64(s.StartGoodput))), only(r.harmed, tenths(float64(s.StartWorst))))
	}
	return t.write(r.out)
}

func thousandths(f simulate.Figure) string { return decimals(float64(f), 3) }

// margin returns the margin as text, empty if there is none.
func margin(s simulate.Summary) string {
	if math.IsNaN(float64(s.Margin)) {
		return ""
	}
	return fmt.Sprintf("%+.1f ± %s", s.Margin, tenths(float64(s.MarginInterval)))
}

func writeLines[T any](to io.Writer, lines []T) error {
	for _, line := range lines {
		if err := json.NewEncoder(to).Encode(line); err != nil {
			return err
		}
	}
	return nil
}

var summaryColumns = []string{
	"law", "scenarios", "goodput_pct", "goodput_interval", "goodput_uncapped_pct", "p10_pct", "worst_pct", "worst_phase_pct", "worst_seed_over_mean",
	"p99_ratio", "convergence_s", "limit_cv", "false_refused", "refused_probing", "late", "margin", "margin_interval",
	"regime", "harm_p1_pct", "harm_worst_pct", "harmless", "start_goodput_pct", "start_harm_worst_pct", "jain", "jain_worst",
}

func summaryRecord(s simulate.Summary) []string {
	record := []string{s.Law, strconv.Itoa(s.Scenarios)}
	for _, v := range []float64{
		s.Goodput, float64(s.Interval), s.Uncapped, s.Tenth, s.Worst, s.WorstPhase, s.Steady,
		s.P99Ratio, s.Convergence, s.LimitCV, s.FalseRefused, s.Probed, s.Late, float64(s.Margin), float64(s.MarginInterval),
	} {
		record = append(record, ifAny(!math.IsNaN(v), v))
	}
	record = append(record, s.Regime)
	for _, f := range []simulate.Figure{s.HarmFirst, s.HarmWorst, s.Harmless, s.StartGoodput, s.StartWorst, s.Jain, s.JainWorst} {
		record = append(record, ifAny(!math.IsNaN(float64(f)), float64(f)))
	}
	return record
}
