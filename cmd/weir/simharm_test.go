package main

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/sim"
)

// TestSimHarm: the suite reports for each regime the result of no limit and of a fixed 20,
// and keeps it in the cache.
func TestSimHarm(t *testing.T) {
	args := []string{"sim", "suite", "--harm", "2", "--seed", "544", "--law", "fixed(limit=1)", "--law", "fixed(limit=20)", "--oracles", t.TempDir()}
	out := output(t, args...)
	contains(t, out, "harm: share %", "start %", "harm-544-", "harm-545-", "harm: p1 %", "97% kept in %", "start worst %", "fixed(limit=1)", "regime", "harm: worst %", suites.Harm(544).Regime, suites.Harm(545).Regime)
	if again := output(t, args...); again != out {
		t.Errorf("with the cache:\n%s\n%s", again, out)
	}
	for line := range strings.Lines(output(t, append(args, "--json")...)) {
		var score sim.Score
		if err := json.Unmarshal([]byte(line), &score); err != nil {
			t.Fatal(err)
		}
		if score.Starts != 1 || score.Harm == nil || len(score.Harm.Possible) != len(score.Phases) || len(score.Harm.Good) != len(score.Phases) {
			t.Errorf("%s", line)
		}
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

func TestSimShared(t *testing.T) {
	out := output(t, "sim", "suite", "--shared", "1", "--seed", "46", "--law", "fixed(limit=8)")
	contains(t, out, "jain", "shared-46-", "jain", "worst jain", "fixed(limit=8)", "regime", "fixed(limit=8)")
	if strings.Contains(out, "harm") {
		t.Errorf("harm without a baseline:\n%s", out)
	}
}

// TestSimRegimes: with --regimes, random systems with several limiters are a regime of their
// own.
func TestSimRegimes(t *testing.T) {
	args := []string{"sim", "suite", "--random", "1", "--seed", cheap, "--law", "fixed(limit=8)", "--summary"}
	contains(t, output(t, append(args, "--regimes")...), "law", "regime", "others", "fixed(limit=8)")
	if out := output(t, args...); strings.Contains(out, "regime") {
		t.Errorf("not asked for:\n%s", out)
	}
}

// TestSimDrawn: a drawn system is run by its name.
func TestSimDrawn(t *testing.T) {
	contains(t, output(t, "sim", "run", "harm-544", "--law", "fixed"), suites.Harm(544).Name)
}
