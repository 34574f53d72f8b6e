package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/law"
)

// contenders are the laws to choose from: the default first, and the laws on the command
// line. Some take the SLO as a setting; the others have the settings that did well in
// docs/control.md.
func contenders(asked []lawFlag, slo time.Duration) (laws []lawFlag) {
	for _, l := range []law.Law{
		defaultLaw,
		law.Setpoint{Budget: slo},
		law.Little{},
		law.Little{Alpha: 0.8},
		law.Gradient{},
		law.Gradient2{},
		law.Vegas{Alpha: 24, Beta: 48},
		law.PID{Target: slo / 2},
		law.AIMD{Timeout: slo},
	} {
		laws = append(laws, lawFlag{l})
	}
	for _, l := range asked {
		if !slices.ContainsFunc(laws, func(had lawFlag) bool { return fmt.Sprint(had.law) == fmt.Sprint(l.law) }) {
			laws = append(laws, l)
		}
	}
	return laws
}

// choice reports the law that did best over all scenarios.
type choice struct {
	out   io.Writer
	cells simulate.Cells
}

func (c *choice) add(o simulate.Outcome) error {
	c.cells.Add(o)
	return nil
}

func (c *choice) end() error {
	laws := c.cells.Summaries()
	standard := laws[0]
	slices.SortStableFunc(laws, func(a, b simulate.Summary) int {
		return cmp.Or(cmp.Compare(b.Goodput, a.Goodput), cmp.Compare(b.Worst, a.Worst))
	})
	if err := c.table(laws).write(c.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\n%s\n", chosen(laws, standard))
	return err
}

// chosen says which of the laws, sorted best first, to choose: the default unless another law
// is better over all scenarios by more than chance, and no worse in the worst scenario.
func chosen(laws []simulate.Summary, standard simulate.Summary) string {
	best := laws[0]
	if best.Law == standard.Law {
		return fmt.Sprintf("Choose %s, the default: none is better.", standard.Law)
	}
	for _, l := range laws {
		if l.Margin > l.MarginInterval && l.Worst >= standard.Worst {
			return fmt.Sprintf("Choose %s: it is better than %s, the default, by %s points.", l.Law, standard.Law, gain(l))
		}
	}
	reserve := "which may be chance. More logs, or more loads, would tell."
	if best.Margin > best.MarginInterval {
		reserve = fmt.Sprintf("but worse in the worst case: %s, not %s.", tenths(best.Worst), tenths(standard.Worst))
	}
	return fmt.Sprintf("Choose %s, the default: %s is better by %s points, %s", standard.Law, best.Law, gain(best), reserve)
}

// gain is the advantage of a law over the default.
func gain(s simulate.Summary) string {
	if math.IsNaN(float64(s.MarginInterval)) {
		return tenths(float64(s.Margin))
	}
	return strings.TrimPrefix(margin(s), "+")
}

// mostColumns is the largest number of scenarios that have a column each.
const mostColumns = 6

func (c *choice) table(laws []simulate.Summary) *table {
	var names []string
	rows := map[string][]string{}
	for _, cell := range c.cells.List() {
		if laws[0].Scenarios > mostColumns {
			break
		}
		_, speed, _ := strings.Cut(cell.Scenario, ", ")
		speed, _, _ = strings.Cut(speed, " (rate")
		if cell.Law == laws[0].Law {
			names = append(names, cmp.Or(speed, cell.Scenario))
		}
		rows[cell.Law] = append(rows[cell.Law], tenths(cell.Mean.Goodput))
	}
	t := &table{left: 1}
	t.row(append([]string{"goodput %", "mean", "worst", "over the default", "p99x", "false %", "late %"}, names...)...)
	for _, l := range laws {
		row := []string{l.Law, tenths(l.Goodput), tenths(l.Worst), margin(l), hundredths(l.P99Ratio), hundredths(100 * l.FalseRefused), hundredths(100 * l.Late)}
		t.row(append(row, rows[l.Law]...)...)
	}
	return t
}
