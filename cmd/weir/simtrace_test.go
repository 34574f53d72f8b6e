package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
)

func TestSimTraceHasTheLawOfItsSystem(t *testing.T) {
	out := output(t, "sim", "trace", "testdata/trace.csv", "--on", "testdata/tiny.yaml", "--every", "1s")
	contains(t, out, "trace, aimd(timeout=100ms), seed 1")
}

// TestSimTraceSystem: cores are shared, workers are not; phases make a difference; deadlines
// replace the SLO.
func TestSimTraceSystem(t *testing.T) {
	log := must.Write(t, filepath.Join(t.TempDir(), "log.csv"), "at,took,until\n"+strings.Repeat("0,0.1,0.15\n", 4)+"5,0.1,0.15\n")
	phases := must.Write(t, filepath.Join(t.TempDir(), "p.yaml"), "phases: [{length: 4s}, {length: 1s, speed: 0.5}]")
	for _, test := range []struct {
		args string
		good float64
	}{
		{"--workers 2 --deadline until", 3},
		{"--cores 2 --deadline until", 1},
		{"--cores 2 --deadline until --slo 1h", 1},
		{"--workers 2 --deadline until --phases " + phases, 2},
		{"--workers 4 --deadline until", 5},
		{"--workers 2 --deadline took*m", 5},
		{"--workers 2 --deadline took*m --phases " + phases, 5},
	} {
		// the whole trace is one interval
		var m moment
		out := output(t, strings.Fields("sim trace "+log+" --arrival at --service took --law fixed --every 6s --json "+test.args)...)
		must.Do(t, json.Unmarshal([]byte(out), &m))
		if good := 6 * m.Good; math.Abs(good-test.good) > 1e-9 {
			t.Errorf("%s: %v good, want %v", test.args, good, test.good)
		}
	}
}

func TestSimTraceFromStandardInput(t *testing.T) {
	in := must.Have(os.Open("testdata/trace.csv"))(t)
	defer func(before *os.File) { os.Stdin = before }(os.Stdin)
	os.Stdin = in
	contains(t, output(t, "sim", "trace", "-", "--workers", "4", "--slo", "200ms"), "stdin", "setpoint")
}

// TestSimTraceOfGzip: a rotated, compressed log can be read directly.
func TestSimTraceOfGzip(t *testing.T) {
	plain := must.Have(os.ReadFile("testdata/trace.csv"))(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trace.csv")
	args := strings.Fields("sim trace --workers 4 --slo 200ms --law little " + must.Write(t, file, packed.String()))
	if got, want := output(t, args...), output(t, "sim", "trace", "testdata/trace.csv", "--workers", "4", "--slo", "200ms", "--law", "little"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	must.Write(t, file, packed.String()[:packed.Len()/2])
	if status, _, said := ran(t, args...); status == 0 || !strings.Contains(said, "unexpected EOF") {
		t.Errorf("half of it: status %d, %s", status, said)
	}
}

// TestSimTraceChoose: several logs weigh more than one, and a law on the command line is
// among the candidates.
func TestSimTraceChoose(t *testing.T) {
	race.Skip(t, simulates)
	flags := strings.Fields("--slo 1s --workers 4 --arrival received_ms --service service_us*us --choose")
	one := output(t, append([]string{"sim", "trace", "testdata/logs/requests.csv", "--law", "fixed(limit=1)", "--law", "little"}, flags...)...)
	contains(t, one, "goodput %", "over the default", "fixed(limit=1)", "rate x1 (load", "Choose ")
	if table, _, _ := strings.Cut(one, "\n\n"); strings.Count(table, "\nlittle ") != 1 {
		t.Errorf("a contender runs twice:\n%s", one)
	}
	many := output(t, append([]string{"sim", "trace", "testdata/logs/requests.csv", "testdata/logs/requests.csv", "--load", "0.5,0.6,0.7,0.8"}, flags...)...)
	contains(t, many, "goodput %", "mean", "worst")
	if strings.Contains(many, "load 0.5") {
		t.Errorf("eight columns:\n%s", many)
	}
	lines := output(t, append([]string{"sim", "trace", "testdata/logs/requests.csv", "--json"}, flags...)...)
	if strings.Contains(lines, "Choose") || strings.Count(lines, "\n") != 9 {
		t.Errorf("want a line for each law:\n%s", lines)
	}
}

// TestChosen: another law replaces the default only if it is better by more than chance, and
// no worse in the worst case.
func TestChosen(t *testing.T) {
	nothing := simulate.Figure(math.NaN())
	standard := simulate.Summary{Law: "setpoint", Goodput: 90, Worst: 80, Margin: nothing, MarginInterval: nothing}
	for _, test := range []struct {
		goodput, worst   float64
		margin, interval simulate.Figure
		want             string
	}{
		{89, 89, -1, 0.5, "Choose setpoint, the default: none is better."},
		{95, 85, 5, 4, "Choose other: it is better than setpoint, the default, by 5.0 ± 4.0 points."},
		{95, 85, 5, 6, "Choose setpoint, the default: other is better by 5.0 ± 6.0 points, which may be chance. More logs, or more loads, would tell."},
		{95, 79, 5, 4, "Choose setpoint, the default: other is better by 5.0 ± 4.0 points, but worse in the worst case: 79.0, not 80.0."},
		{95, 95, 5, nothing, "Choose setpoint, the default: other is better by 5.0 points, which may be chance. More logs, or more loads, would tell."},
	} {
		laws := []simulate.Summary{{Law: "other", Goodput: test.goodput, Worst: test.worst, Margin: test.margin, MarginInterval: test.interval}, standard}
		if test.goodput < standard.Goodput {
			slices.Reverse(laws)
		}
		if got := chosen(laws, standard); got != test.want {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
	}
}

func TestSimTraceBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return must.Write(t, filepath.Join(dir, name), text) }
	log := file("log.csv", "at,took\n0,0.1\n1,0.1\n") + " --arrival at --service took "
	for _, test := range []struct{ args, want string }{
		{log + "--workers 1 --cores 1 --slo 1s", "--workers and --cores can't be used together"},
		{log + "--workers 1 --slo 1s --load 1 --rate 1", "--load and --rate can't be used together"},
		{log + "--cores 0 --slo 1s", `--cores: "0": want a number above 0`},
		{log + "--cores 1 --slo 1s --load 0.7,", `--load: "0.7,": want numbers from 0.001 to 1000, such as 0.7,1,1.5`},
		{log + "--cores 1 --slo 1s --rate nan", `--rate: "nan": want numbers from 0.001 to 1000`},
		{log + "--cores 1 --slo 1s --time-is middle", `--time-is must be one of "start","end" but got "middle"`},
		{log + "--cores 1", "--slo is missing: want how long a client waits, such as 400ms"},
		{log + "--cores 1 --slo 1s --choose --every 1s", "--choose: goes by scores, of which --every prints none: want one of them"},
		{log + "--cores 1 --slo 1s --phases slow30", "--phases: log, rate x1 (load 0.1): phases[1] begins after 30s: want less than 2s, when the trace ends"},
		{log + "--cores 1 --slo 1s --phases step-3x", "--phases: log, rate x1 (load 0.1): phases[1].load is 10: want it left out"},
		{log + "--cores 1 --slo 1s --phases " + file("l.yaml", "phases: [{length: 1s, load: 2}]"), "--phases: log, rate x1 (load 0.1): phases[0].load is 2: want it left out, as a trace brings its own requests"},
		{log + "--cores 1 --slo 1s --phases " + file("s.yaml", "phases: [{length: 1s, shares: [1]}]"), "--phases: log, rate x1 (load 0.1): phases[0].shares is [1]"},
		{log + "--cores 1 --slo 1s --phases " + file("w.yaml", "phases: [{length: 1s, work: {constant: {mean: 1s}}}]"), "--phases: log, rate x1 (load 0.1): phases[0].work is {Mean:1s}"},
		{log + "--cores 1 --slo 1s --phases " + file("n.yaml", "name: x"), "--phases: n.yaml has none"},
		{log + "--slo 1s --load 1 --on " + file("u.yaml", "server: {usl: {alpha: 0, beta: 0}}"), "--load: the capacity of this server is not known: want --rate"},
		{log + "--on priorities-3x", `log.csv: trace has class "": want the name of a client, `},
		{file("same.csv", "at,took\n1,1\n1,1\n") + " --arrival at --service took --cores 1 --slo 1s --rate 2", "same.csv: has a single arrival time, and so no rate: want it without --load and --rate"},
		{file("far.csv", "at,took\n1,1\n9999h,1\n") + " --arrival at --service took --cores 1 --slo 1s --rate 0.001", "far, rate x0.001 (load 2.78e-11): lasts more than 10000h: want it faster"},
		{file("d.csv", "at,until,took\n0,1,1\n1,-,1\n2,,1\n") + " --arrival at --service took --deadline until --cores 1", "--slo is missing: want how long a client waits, such as 400ms, for the 2 requests without a deadline of their own"},
		{file("ms.csv", "at,took\n0,12\n1,30\n") + " --arrival at --service took --cores 1 --slo 1s --choose", "ms.csv: no request can be answered in time: the first takes 12s on the idle server, and its client waits 1s: want a longer time, or --service with the unit of its column, such as 'took*ms'"},
		{file("due.csv", "at,took,due\n0,12,9\n1,30,20\n") + " --arrival at --service took --deadline due --cores 1 --slo 1m", "due.csv: no request can be answered in time: the first takes 12s on the idle server, and its client waits 9s"},
		{log + "--cores 1 --slo 1s --service took*", `service is "took*", and there is no such column; the columns are at, took`},
	} {
		refusesInput(t, dir, "sim trace "+test.args, ": "+test.want)
	}
}
