package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
)

// sumUp prints a line for each law.
func (r *scores) sumUp() error {
	summaries := r.cells.Summaries()
	switch r.form {
	case asJSON:
		return writeLines(r.out, summaries)
	case asCSV:
		_ = r.csv.Write(summaryColumns) // Error reports it
		for _, s := range summaries {
			_ = r.csv.Write(summaryRecord(s))
		}
		r.csv.Flush()
		return r.csv.Error()
	}
	t := table{left: 1}
	t.row("law", "scenarios", "mean %", "95% interval", r.ifQueued("uncapped %"), "p10", "worst", "worst phase", "worst seed/mean", "p99x median",
		"conv s", "cv", "false %", "late %", "over the first")
	for _, s := range summaries {
		t.row(s.Law, strconv.Itoa(s.Scenarios), tenths(s.Goodput), "± "+tenths(float64(s.Interval)), r.ifQueued(tenths(s.Uncapped)), tenths(s.Tenth), tenths(s.Worst),
			tenths(s.WorstPhase), hundredths(s.Steady), hundredths(s.P99Ratio), tenths(s.Convergence), hundredths(s.LimitCV), hundredths(100*s.FalseRefused),
			hundredths(100*s.Late), margin(s))
	}
	return t.write(r.out)
}

// margin is empty where there is none.
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
}

func summaryRecord(s simulate.Summary) []string {
	record := []string{s.Law, strconv.Itoa(s.Scenarios)}
	for _, v := range []float64{
		s.Goodput, float64(s.Interval), s.Uncapped, s.Tenth, s.Worst, s.WorstPhase, s.Steady,
		s.P99Ratio, s.Convergence, s.LimitCV, s.FalseRefused, s.Probed, s.Late, float64(s.Margin), float64(s.MarginInterval),
	} {
		if math.IsNaN(v) {
			record = append(record, "")
			continue
		}
		record = append(record, exact(v))
	}
	return record
}
