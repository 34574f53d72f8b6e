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

// contenders returns the laws to choose from: the default first, and the laws on the command line.
// Some laws have the SLO as a setting. The other laws have the settings that did well in
// docs/control.md.
func contenders(asked []law.Law, slo time.Duration) []law.Law {
	laws := []law.Law{
		law.Setpoint{},
		law.Setpoint{Budget: slo},
		law.Little{},
		law.Little{Alpha: 0.8},
		law.Gradient{},
		law.Gradient2{},
		law.Vegas{Alpha: 24, Beta: 48},
		law.PID{Target: slo / 2},
		law.AIMD{Timeout: slo},
	}
	for _, l := range asked {
		if !slices.ContainsFunc(laws, func(had law.Law) bool { return fmt.Sprint(had) == fmt.Sprint(l) }) {
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
	slices.SortStableFunc(laws, func(a, b summary) int {
		return cmp.Or(cmp.Compare(b.Goodput, a.Goodput), cmp.Compare(b.Worst, a.Worst))
	})
	if err := tableOf(c.columns(laws[0]), 1, 0, 0, laws).write(c.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\n%s\n", chosen(laws, standard))
	return err
}

// mostColumns is the largest number of scenarios that have a column each.
const mostColumns = 6

// columns returns the columns of all scenarios together, and then a column for each scenario,
// unless there are too many scenarios.
func (c *choice) columns(of summary) []column[summary] {
	columns := slices.Clone(choiceColumns)
	if of.Scenarios > mostColumns {
		return columns
	}
	goodput := map[string][]string{} // of each law, by scenario
	for _, cell := range c.cells {
		goodput[cell.Law] = append(goodput[cell.Law], tenths(cell.Mean.Goodput))
		if cell.Law != of.Law {
			continue
		}
		_, speed, _ := strings.Cut(cell.Scenario, ", ")
		speed, _, _ = strings.Cut(speed, " (rate")
		i := len(goodput[of.Law]) - 1
		columns = append(columns, column[summary]{
			head: cmp.Or(speed, cell.Scenario),
			text: func(s summary) string { return goodput[s.Law][i] },
		})
	}
	return columns
}

// chosen says which of the laws, sorted best first, to choose: the default unless another law
// is better over all scenarios by more than chance, and no worse in the worst scenario.
func chosen(laws []summary, standard summary) string {
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
func gain(s summary) string {
	if math.IsNaN(float64(s.MarginInterval)) {
		return tenths(s.Margin)
	}
	return strings.TrimPrefix(margin(s), "+")
}
