package main

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/suites"
)

// TestSimHarm checks that the baseline is kept in the cache, and the summary of regimes.
func TestSimHarm(t *testing.T) {
	args := []string{"sim", "suite", "--harm", "2", "--seed", "544", "--law", "fixed(limit=1)", "--law", "fixed(limit=20)", "--oracles", t.TempDir()}
	out := output(t, args...)
	if again := output(t, args...); again != out {
		t.Errorf("with the cache:\n%s\n%s", again, out)
	}
	rows, err := csv.NewReader(strings.NewReader(output(t, append(args, "--csv", "--summary")...))).ReadAll()
	if err != nil || len(rows) != 1+2+2*2 || len(rows[1]) != len(fieldNames(reflect.TypeFor[summary]())) {
		t.Fatalf("%v, %v", rows, err)
	}
	worst := columnOf(t, rows, "harm_worst_pct")
	if regimes := columnOf(t, rows, "regime"); regimes[0] != "" || regimes[2] != suites.Harm(544).Regime || worst[1] == "" {
		t.Errorf("regimes %v, worst %v", regimes, worst)
	}
}

// columnOf returns the column with a heading.
func columnOf(t *testing.T, rows [][]string, name string) (fields []string) {
	t.Helper()
	for i, heading := range rows[0] {
		for _, row := range rows[1:] {
			if heading == name {
				fields = append(fields, row[i])
			}
		}
	}
	if fields == nil {
		t.Fatalf("no column %s in %v", name, rows[0])
	}
	return fields
}
