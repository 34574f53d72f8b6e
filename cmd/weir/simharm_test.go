package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/suites"
)

// TestSimHarm checks that the baseline is kept in the cache, and the summary of regimes.
func TestSimHarm(t *testing.T) {
	args := []string{"sim", "suite", "--harm", "2", "--seed", "544", "--law", "fixed(limit=1)", "--law", "fixed(limit=20)", "--oracles", t.TempDir()}
	out := output(t, args...)
	if again := output(t, args...); again != out {
		t.Errorf("with the cache:\n%s\n%s", again, out)
	}
	type line struct {
		Regime string
		Worst  *float64 `json:"harm_worst_pct"`
	}
	var lines []line
	for text := range strings.Lines(output(t, append(args, "--json", "--summary")...)) {
		var l line
		must.Do(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	if len(lines) != 2+2*2 || lines[0].Regime != "" || lines[2].Regime != suites.Harm(544).Regime || lines[1].Worst == nil {
		t.Errorf("%+v", lines)
	}
}
