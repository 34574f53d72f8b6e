package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/suites"
)

func contains(t *testing.T, out string, words ...string) {
	t.Helper()
	rest := out
	for _, word := range words {
		_, after, found := strings.Cut(rest, word)
		if !found {
			t.Fatalf("no %q in its place in:\n%s", word, out)
		}
		rest = after
	}
}

// simulates is why tests of the simulator skip the race detector, with which they would take
// minutes: package simulate has the goroutines, and tests of its own.
const simulates = "simulates for long under the race detector"

func TestSimList(t *testing.T) {
	out := "\n" + output(t, "help", "scenarios")
	for _, scenario := range suites.All() {
		contains(t, out, "\n  "+scenario.Name+" ")
	}
}

// TestSimulatorPrints compares the output of commands with the files of testdata/sim, which
// have the command in their first line. All limits are constant, so that no change of a law
// changes the files.
func TestSimulatorPrints(t *testing.T) {
	race.Skip(t, simulates)
	files, err := filepath.Glob("testdata/sim/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text := must.Have(os.ReadFile(file))(t)
			command, _, _ := strings.Cut(string(text), "\n")
			got := output(t, arguments(command)...)
			must.Golden(t, file, command+"\n"+got, *update)
			if !strings.Contains(command, "--json") {
				fits(t, got)
			}
		})
	}
}

// cheap is the seed of a random system with few requests.
const cheap = "253"

// TestSimSuiteWithOthers writes scores and oracles to files and reads them again.
func TestSimSuiteWithOthers(t *testing.T) {
	t.Parallel()
	race.Skip(t, simulates)
	args := []string{"sim", "suite", "--random", "1", "--seed", cheap, "--oracles", t.TempDir()}
	others := filepath.Join(t.TempDir(), "others.jsonl")
	alone := output(t, append(args, "--law", "fixed(limit=30)", "--json")...)
	must.Write(t, others, strings.Replace(alone, "fixed(limit=30)", "theirs", 1))
	out := output(t, append(args, "--law", "fixed(limit=30)", "--told", "--with", others, "--summary")...)
	contains(t, out, "setpoint(budget=slo)", "pid(target=slo/2)", "theirs", "+0.0")
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	must.Write(t, broken, "{}")
	if status, _, said := ran(t, append(args, "--with", broken)...); status != statusUsage || !strings.Contains(said, "score 1 has no scenario") {
		t.Errorf("status %d, %s", status, said)
	}
}

func TestSimPlots(t *testing.T) {
	t.Parallel()
	race.Skip(t, simulates)
	file := filepath.Join(t.TempDir(), "chart.svg")
	for _, test := range []struct {
		args []string
		want []string // in the picture, in that order
	}{
		{
			[]string{"sim", "run", "testdata/tiny.yaml", "testdata/bare.json", "--law", "little", "--law", "vegas", "--seed", "3"},
			[]string{"little, vegas on tiny, bare", "the oracle", "the SLO", "tiny, seed 3", "bare, seed 3", "goodput", "p99, ms"},
		},
		{
			[]string{"sim", "trace", "testdata/trace.csv", "--on", "testdata/tiny.yaml", "--every", "100ms"},
			[]string{"the oracle", "seed 1", "limit", "p99, ms"},
		},
	} {
		output(t, append(test.args, "--plot", file)...)
		drawn := must.Have(os.ReadFile(file))(t)
		contains(t, string(drawn), test.want...)
	}
}

func TestSimPlotsOnlyThePanelsThatAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chart.svg")
	output(t, "sim", "run", "testdata/tiny.yaml", "--law", "fixed", "--plot", file, "--panel", "latency,goodput")
	drawn := must.Have(os.ReadFile(file))(t)
	contains(t, string(drawn), "goodput, 1/s", "time, s", "p99, ms")
	for _, other := range []string{">limit<", ">in flight<", "throughput, 1/s"} {
		if strings.Contains(string(drawn), other) {
			t.Errorf("there is a panel %q too", other)
		}
	}
}

// TestPlotsAreCheckedBeforeTheSimulation tries a folder that is not there, and a name that is a
// folder's. A longer picture that was there is replaced.
func TestPlotsAreCheckedBeforeTheSimulation(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.svg")
	must.Do(t, os.Mkdir(taken, 0o700))
	for _, file := range []string{filepath.Join(dir, "gone", "chart.svg"), taken} {
		status, printed, said := ran(t, "sim", "run", "kata", "--plot", file)
		if status != statusUsage || !strings.Contains(said, "cannot be written") || printed != "" {
			t.Errorf("status %d, %s%s", status, said, printed)
		}
	}
	had := must.Write(t, filepath.Join(dir, "had.svg"), strings.Repeat("before", 1<<16))
	output(t, "sim", "run", "testdata/tiny.yaml", "--law", "fixed", "--plot", had)
	if text, err := os.ReadFile(had); err != nil || !bytes.HasPrefix(text, []byte("<svg")) || bytes.Contains(text, []byte("before")) {
		t.Errorf("%.40q, %v", text, err)
	}
}

func TestSimBadInput(t *testing.T) {
	dir := t.TempDir()
	tiny := must.Have(os.ReadFile("testdata/tiny.yaml"))(t)
	broken := func(name, old, replacement string) string {
		t.Helper()
		if !bytes.Contains(tiny, []byte(old)) {
			t.Fatalf("no %q in the file", old)
		}
		return must.Write(t, filepath.Join(dir, name), strings.Replace(string(tiny), old, replacement, 1))
	}
	trace := must.Write(t, filepath.Join(dir, "t.csv"), "arrival,service\n0.1,0.02\n0.05,0.02\nx,0.1\n")
	const onePhase = "phases[1]"
	for _, test := range []struct {
		args string
		want string
	}{
		{"sim run", `expected "<scenario> ...": see weir sim run --help`},
		{"sim run testdata", `testdata: is a directory: want a scenario: weir help scenarios shows one`},
		{"sim trace testdata --workers 4 --slo 1s", `testdata: is a directory: want the logs in it`},
		{"sim run kata --plot testdata/tiny.yaml/x.svg", `--plot: "testdata/tiny.yaml/x.svg" cannot be written: not a directory: want a file`},
		{"sim run kata --plot x.svg --panel=", `--panel: "": want limit, in-flight, throughput, goodput or latency`},
		{"sim run kata --plot x.svg --panel limit,x", `--panel: "x": want limit, in-flight, throughput, goodput or latency`},
		{"sim run kata --plot x.svg --panel limit,goodptu", `--panel: "goodptu": did you mean goodput?`},
		{"sim run kata --panel limit", `--panel: says what --plot draws: want --plot FILE as well`},
		{"sim run nope", `unknown scenario "nope": want det-1.5x, exp-1.5x, `},
		{"sim run slow3", `unknown scenario "slow3": did you mean slow30? (a file ends in .json, .yaml or .yml)`},
		{"sim run nope.yaml", `nope.yaml: no such file or directory: want a scenario: weir help scenarios shows one`},
		{"sim run " + broken("a.yaml", "workers: 0.5", "wrokers: 0.5"), "a.yaml: " + onePhase + ".wrokers is unknown: did you mean workers?"},
		{"sim run " + broken("d.yaml", "rate: 240", "rate: .nan"), `d.yaml: arrivals.poisson.rate is wrong: invalid character`},
		{"sim run " + broken("e.yaml", "aimd(", "amid("), `e.yaml: limiter.law is "amid(timeout=100ms)": law: unknown law "amid": did you mean aimd?`},
		{"sim run " + broken("f.yaml", "slo:", "name:"), `f.yaml:9:1: is not YAML: mapping key "name" already defined at [2:1]`},
		{"sim run " + must.Write(t, filepath.Join(dir, "h.json"), "{\n\"nome\": 1}"), "h.json:2: nome is unknown: did you mean name?"},
		{"sim run kata --law bond", `--law: law: unknown law "bond": did you mean band?`},
		{"sim run kata --seeds 0", `--seeds: "0": want a whole number, 1 to 10000`},
		{"sim run kata --every 0s", `--every: "0s": want a time above 0, such as 500ms`},
		{"sim run kata --every 1h", `--every: 1h0m0s: want at most 2m0s, the length of kata`},
		{"sim run kata --every 1us", `scenario "kata": sample is 1µs: want 1ms to 10000h`},
		{"sim run kata --plot k.gif", `--plot: "k.gif": want a file that ends in .svg`},
		{"sim run kata mmpp kata mmpp kata --plot k.svg", `--plot: 5 scenarios: want 4 at most`},
		{"sim run kata --queue lifo", `--queue: "lifo": want adaptive, or how many may wait: 1 to 1000000`},
		{"sim suite", `missing flags: --named or --random=N`},
		{"sim suite --random 0", `--random: "0": want a whole number, 1 to 10000`},
		{"sim suite --random 2 --seed 18446744073709551615", `--seed: 18446744073709551615: want room for 2 more`},
		{"sim trace " + trace, `a trace needs a system to run on: want --on SCENARIO, or --workers N or --cores N and --slo TIME`},
		{"sim trace --on kata " + trace, `t.csv:4: arrival is "x": want a date`},
		{"sim trace --on kata nope.csv", `nope.csv: no such file or directory: want a log, or - for the standard input`},
	} {
		refusesInput(t, dir, test.args, "weir: "+test.want)
	}
}

// refusesInput checks that a command says in one line how its input is wrong.
func refusesInput(t *testing.T, dir, args, want string) {
	t.Helper()
	status, printed, said := ran(t, strings.Fields(args)...)
	said = strings.ReplaceAll(said, dir+string(filepath.Separator), "")
	if status != statusUsage || printed != "" || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
		t.Errorf("%s: exit status %d, want 2\n got %s%swant %s", args, status, printed, said, want)
	}
}

// TestSimHarm checks that the cache changes nothing, and the summary of regimes.
func TestSimHarm(t *testing.T) {
	args := []string{"sim", "suite", "--harm", "2", "--seed", "544", "--law", "fixed(limit=1)", "--law", "fixed(limit=20)", "--oracles", t.TempDir()}
	out := output(t, args...)
	if again := output(t, args...); again != out {
		t.Errorf("with the cache:\n%s\n%s", again, out)
	}
	type line struct {
		Regime string
		Margin *float64
		Worst  *float64 `json:"harm_worst_pct"`
	}
	var lines []line
	for text := range strings.Lines(output(t, append(args, "--json", "--summary")...)) {
		var l line
		must.Do(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	if len(lines) != 2+2*2 || lines[0].Regime != "" || lines[2].Regime != suites.Harm(544).Regime || lines[1].Worst == nil ||
		lines[0].Margin != nil || lines[1].Margin == nil {
		t.Errorf("%+v", lines)
	}
}
