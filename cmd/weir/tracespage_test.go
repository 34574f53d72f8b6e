package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/sim"
)

var update = flag.Bool("update", false, "write the output of the commands in testdata/sim, docs/traces.md and docs/results/traces.md")

// session matches a command of a page and the output below it.
var session = regexp.MustCompile("(?s)```sh\n(weir [^`]*?)\n```\n\n```text\n(.*?)```")

// TestTracesPage runs every command of docs/traces.md and docs/results/traces.md, and compares the
// output.
func TestTracesPage(t *testing.T) {
	race.Skip(t, simulates)
	for _, name := range []string{"docs/traces.md", "docs/results/traces.md"} {
		t.Run(name, func(t *testing.T) { comparePage(t, name) })
	}
}

func comparePage(t *testing.T, name string) {
	page := must.Have(filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name))))(t)
	text, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this module is alone, without the documents")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("testdata", "logs"))
	ran := 0
	renewed := session.ReplaceAllFunc(text, func(block []byte) []byte {
		ran++
		command := string(session.FindSubmatch(block)[1])
		var printed bytes.Buffer
		exitStatus(run(t.Context(), arguments(command), &printed, &printed), &printed)
		return []byte("```sh\n" + command + "\n```\n\n```text\n" + printed.String() + "```")
	})
	if commands := bytes.Count(text, []byte("```sh\nweir ")); commands != ran || ran == 0 {
		t.Errorf("%d of %d commands have their output below them", ran, commands)
	}
	must.Golden(t, page, renewed, *update)
}

// arguments splits a command as a shell does, as far as the page needs it, and drops the
// first word.
func arguments(command string) (args []string) {
	for _, match := range regexp.MustCompile(`'[^']*'|[^\s\\]+`).FindAllString(command, -1) {
		args = append(args, strings.Trim(match, "'"))
	}
	return args[1:]
}

var logs = flag.Int("logs", 2, "compare so many sample logs of one service")

// TestOneLogIsOneDraw: logs of the same service, of two minutes each, disagree about a law.
// Run it with -v -logs 8 to see by how much; docs/traces.md has the figures.
func TestOneLogIsOneDraw(t *testing.T) {
	t.Parallel()
	race.Skip(t, simulates)
	r := new(sim.Rand)
	means, firsts := map[string][]float64{}, map[string]int{}
	for range *logs {
		file := must.Write(t, filepath.Join(t.TempDir(), "a.log"), string(sampleAccessLog(r)))
		out := output(t, "sim", "trace", file, "--format", "combined $request_time", "--service", "request_time", "--time-is", "end",
			"--workers", "4", "--slo", "1s", "--load", "0.7,1,1.5", "--choose", "--json")
		sums := map[string]float64{}
		for line := range strings.Lines(out) {
			var score sim.Score
			must.Do(t, json.Unmarshal([]byte(line), &score))
			sums[score.Law] += score.Goodput / 3
		}
		first := slices.MaxFunc(slices.Sorted(maps.Keys(sums)), func(a, b string) int { return cmp.Compare(sums[a], sums[b]) })
		firsts[first]++
		for law, mean := range sums {
			means[law] = append(means[law], mean)
		}
	}
	widest := 0.0
	for _, law := range slices.Sorted(maps.Keys(means)) {
		least, most := slices.Min(means[law]), slices.Max(means[law])
		widest = max(widest, most-least)
		t.Logf("%s: %.1f to %.1f, first in %d of %d logs", law, least, most, firsts[law], *logs)
	}
	if widest < 3 {
		t.Errorf("the logs agree to %.1f points: docs/traces.md says that they do not", widest)
	}
}

// sampleAccessLog is a log of nginx in the combined format with $request_time, as
// testdata/logs/access.log is one. Requests arrive independently, and nothing queues; half go to a
// page that takes 40 ms and half to a search that takes 160 ms.
func sampleAccessLog(r *sim.Rand) []byte {
	type visit struct {
		path        string
		ended, took time.Duration
	}
	var visits []visit
	at := time.Duration(0)
	for range 2400 {
		at += time.Duration(r.Exp() / 20 * float64(time.Second))
		path, took := "/page/", sim.Lognormal{Mean: 40 * time.Millisecond, CV: 0.5}.Draw(r)
		if r.Float64() < 0.5 {
			path, took = "/search", sim.Lognormal{Mean: 160 * time.Millisecond, CV: 1}.Draw(r)
		}
		visits = append(visits, visit{path, at + took, took})
	}
	slices.SortFunc(visits, func(a, b visit) int { return cmp.Compare(a.ended, b.ended) })
	midday := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	for _, v := range visits {
		fmt.Fprintf(&log, "192.0.2.%d - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" \"curl/8\" %.3f\n",
			1+r.N(250), midday.Add(v.ended).Format("02/Jan/2006:15:04:05 -0700"), v.path, 500+r.N(9000), v.took.Seconds())
	}
	return log.Bytes()
}
