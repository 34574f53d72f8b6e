package storm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
)

// A contender is one way to limit a storm.
type contender struct {
	name string
	run  func(t *testing.T) result
}

// A result holds the measurements of a storm, by column.
type result map[string]float64

// compare runs the contenders in turn, as often as -repeats asks, and returns the median of
// each column for each of them.
func compare(t *testing.T, columns []string, contenders ...contender) map[string]result {
	t.Helper()
	if *repeats == 0 {
		longtest.Skip(t)
	}
	all := map[string]map[string][]float64{}
	for range max(*repeats, 1) {
		for _, c := range contenders {
			r := c.run(t)
			t.Logf("%-24s %v", c.name, r.format(columns))
			if all[c.name] == nil {
				all[c.name] = map[string][]float64{}
			}
			for _, column := range columns {
				all[c.name][column] = append(all[c.name][column], r[column])
			}
		}
	}
	medians := map[string]result{}
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %s\n", "", header(columns))
	for _, c := range contenders {
		medians[c.name] = result{}
		for column, values := range all[c.name] {
			medians[c.name][column] = median(values)
		}
		fmt.Fprintf(&table, "%-24s %s\n", c.name, medians[c.name].format(columns))
	}
	t.Logf("medians of %d:\n%s", max(*repeats, 1), &table)
	return medians
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

func header(columns []string) string {
	var b strings.Builder
	for _, column := range columns {
		fmt.Fprintf(&b, "%*s", width(column), column)
	}
	return b.String()
}

func (r result) format(columns []string) string {
	var b strings.Builder
	for _, column := range columns {
		fmt.Fprintf(&b, "%*s", width(column), fmt.Sprintf("%.4g", r[column]))
	}
	return b.String()
}

func width(column string) int { return max(len(column), 6) + 2 }

// atMost checks that a column of one contender is at most the given multiple of another's.
func atMost(t *testing.T, medians map[string]result, column, of string, times float64, than string) {
	t.Helper()
	check(t, medians, column, of, "at most", times, than, func(have, bound float64) bool { return have <= bound })
}

// atLeast checks the opposite.
func atLeast(t *testing.T, medians map[string]result, column, of string, times float64, than string) {
	t.Helper()
	check(t, medians, column, of, "at least", times, than, func(have, bound float64) bool { return have >= bound })
}

func check(t *testing.T, medians map[string]result, column, of, want string, times float64, than string, holds func(have, bound float64) bool) {
	t.Helper()
	have, other := medians[of][column], medians[than][column]
	t.Logf("%s of %s: %.4g, want %s %.3g of %.4g", column, of, have, want, times, other)
	if *repeats > 0 && !holds(have, times*other) {
		t.Errorf("%s of %s is %.4g, %.3g times that of %s, want %s %.3g times", column, of, have, have/other, than, want, times)
	}
}
