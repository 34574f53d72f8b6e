package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/figures"
)

// helped returns what a command prints.
func helped(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), args, nil, &stdout, &stderr)
	if status := exitStatus(err, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("weir %s: status %d, %s", strings.Join(args, " "), status, &stderr)
	}
	return stdout.String()
}

func TestWithoutACommandThereIsHelp(t *testing.T) {
	for _, group := range []string{"", "sim"} {
		alone, asked := strings.Fields(group), append(strings.Fields(group), "--help")
		if got, want := helped(t, alone...), helped(t, asked...); got != want {
			t.Errorf("weir %s:\n%s\nwant that of --help:\n%s", group, got, want)
		}
	}
}

func TestHelpOfCommands(t *testing.T) {
	for _, command := range []string{"", "proxy", "demo", "demo bulkhead", "sim run"} {
		words := strings.Fields(command)
		if got, want := helped(t, append([]string{"help"}, words...)...), helped(t, append(words, "--help")...); got != want {
			t.Errorf("weir help %s:\n%s\nwant that of --help:\n%s", command, got, want)
		}
	}
	for _, wrong := range [][]string{{"bogus"}, {"sim", "bogus"}, {"laws", "bogus"}, {"complete"}} {
		var stderr bytes.Buffer
		err := run(t.Context(), append([]string{"help"}, wrong...), nil, io.Discard, &stderr)
		want := "weir: no help on " + strings.Join(wrong, " ") + ": want a command, or one of laws, scenarios, trace, columns, environment, exit-codes\n"
		if status := exitStatus(err, &stderr); status != statusUsage || stderr.String() != want {
			t.Errorf("%v: status %d, %s, want %s", wrong, status, &stderr, want)
		}
	}
}

func TestTopicsFitAScreen(t *testing.T) {
	overview := helped(t)
	for _, topic := range topics {
		if !strings.Contains(overview, "\n  "+topic.name) {
			t.Errorf("the help of weir does not name the topic %s", topic.name)
		}
		text := helped(t, "help", topic.name)
		fits(t, text)
		if strings.Contains(text, " \n") {
			t.Errorf("%s has blanks at the end of a line:\n%s", topic.name, text)
		}
	}
}

func TestLawsAreListedWhereTheyAreExplained(t *testing.T) {
	text := helped(t, "help", "laws")
	for _, name := range lawNames() {
		if aboutLaws[name] == "" || !strings.Contains(text, "\n  "+name+"  ") {
			t.Errorf("no word about %s in:\n%s", name, text)
		}
	}
	if len(aboutLaws) != len(lawNames()) {
		t.Errorf("%d laws are explained, and there are %d", len(aboutLaws), len(lawNames()))
	}
	contains(t, text, "little", "alpha", "0 or more, by default 0.3", "elastic", "replicas", "0 to 10000")
	for _, command := range []string{"proxy", "sim run", "sim suite", "sim trace", "sim tune"} {
		help := strings.Join(strings.Fields(helped(t, append(strings.Fields(command), "--help")...)), " ")
		if list := strings.Join(lawNames(), ", "); !strings.Contains(help, list) {
			t.Errorf("%s: --law does not list %s", command, list)
		}
	}
}

func TestTheExampleOfAScenarioRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "checkout.yaml")
	if err := os.WriteFile(file, []byte(exampleScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, output(t, "sim", "run", file, "--every", "20s"), "checkout, elastic, seed 1", "20", "40", "60")
	contains(t, helped(t, "help", "scenarios"), "slow30", "kata", "name: checkout\n", "    - {name: fault,")
}

// TestTheTraceTopicNamesFlags: each flag that it explains exists.
func TestTheTraceTopicNamesFlags(t *testing.T) {
	text, help := helped(t, "help", "trace"), helped(t, "sim", "trace", "--help")
	flags := regexp.MustCompile(`--[a-z-]+`).FindAllString(text, -1)
	if len(flags) < 20 {
		t.Fatalf("flags %v", flags)
	}
	for _, flag := range flags {
		if !strings.Contains(help, flag+" ") && !strings.Contains(help, flag+"=") {
			t.Errorf("there is no %s", flag)
		}
	}
}

var twoBlanks = regexp.MustCompile(` {2,}`)

// explained reports whether a section with the word in its title has the column.
func explained(title, column string) bool {
	return slices.ContainsFunc(columns, func(s section) bool {
		return strings.Contains(s.title, title) && slices.ContainsFunc(s.columns, func(d definition) bool {
			return d.word == column || slices.Contains(strings.Split(d.word, ", "), column)
		})
	})
}

// TestColumnsAreExplained goes by the tables that commands print.
func TestColumnsAreExplained(t *testing.T) {
	tiny := []string{"testdata/tiny.yaml", "--law", "fixed", "--law", "little"}
	trace := []string{"sim", "trace", "testdata/trace.csv", "--on", "testdata/tiny.yaml"}
	for _, test := range []struct {
		title string
		args  []string
		heads []string // the beginnings of the lines with the columns; that of --choose has the name of the scenario, too
	}{
		{"sim run", append([]string{"sim", "run"}, append(tiny, "--queue", "adaptive")...), []string{"scenario"}},
		{"sim suite", []string{"sim", "suite", "--harm", "1", "--seed", "5", "--law", "fixed", "--law", "little"}, []string{"scenario", "law ", "regime"}},
		{"sim suite", []string{"sim", "suite", "--shared", "1", "--law", "fixed", "--law", "little"}, []string{"scenario", "law ", "regime"}},
		{"--every", append([]string{"sim", "run"}, append(tiny, "--every", "1s")...), []string{"time s"}},
		{"--choose", append(trace, "--choose"), []string{"goodput %"}},
		{"sim tune", []string{"sim", "tune", "testdata/tiny.yaml", "--law", "fixed", "--vary", "limit=2,3"}, []string{"law "}},
	} {
		out := output(t, test.args...)
		for _, head := range test.heads {
			i := strings.Index("\n"+out, "\n"+head)
			if i < 0 {
				t.Fatalf("%v: no line begins with %q:\n%s", test.args, head, out)
			}
			line, _, _ := strings.Cut(out[i:], "\n")
			for _, column := range twoBlanks.Split(strings.TrimSpace(line), -1) {
				if !explained(test.title, column) && !explained("sim run, suite", column) && column != "trace" {
					t.Errorf("%v: weir help columns does not explain %q", test.args, column)
				}
			}
		}
	}
	for column := range strings.FieldsSeq(figures.Header) {
		if !explained("a line a second", column) {
			t.Errorf("weir help columns does not explain %q of the figures", column)
		}
	}
}

func TestFieldsAreExplained(t *testing.T) {
	for title, names := range map[string][]string{
		"suite and trace with --csv or --json": scoreColumns,
		"--summary":                            summaryColumns,
		"--every and --csv":                    momentColumns,
	} {
		for _, name := range names {
			if !explained(title, name) {
				t.Errorf("weir help columns does not explain %s of CSV", name)
			}
		}
	}
	for title, args := range map[string][]string{
		"suite and trace with --csv or --json": {"sim", "suite", "--harm", "1", "--seed", "5", "--law", "fixed", "--json"},
		"--every and --csv":                    {"sim", "run", "testdata/tiny.yaml", "--every", "1s", "--json"},
		"--summary":                            {"sim", "tune", "testdata/tiny.yaml", "--law", "fixed", "--vary", "limit=2,3", "--json"},
	} {
		line, _, _ := strings.Cut(output(t, args...), "\n")
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			if !explained(title, name) {
				t.Errorf("%v: weir help columns does not explain %s of JSON", args, name)
			}
		}
	}
}
