package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/sim"
)

func TestWithoutACommandThereIsHelp(t *testing.T) {
	for _, group := range []string{"", "sim"} {
		alone, asked := strings.Fields(group), append(strings.Fields(group), "--help")
		if got, want := output(t, alone...), output(t, asked...); got != want {
			t.Errorf("weir %s:\n%s\nwant that of --help:\n%s", group, got, want)
		}
	}
}

func TestHelpOfCommands(t *testing.T) {
	for _, command := range []string{"", "proxy", "demo", "demo bulkhead", "sim run"} {
		words := strings.Fields(command)
		if got, want := output(t, append([]string{"help"}, words...)...), output(t, append(words, "--help")...); got != want {
			t.Errorf("weir help %s:\n%s\nwant that of --help:\n%s", command, got, want)
		}
	}
	for _, wrong := range []string{"bogus", "sim bogus", "laws bogus"} {
		status, _, said := ran(t, append([]string{"help"}, strings.Fields(wrong)...)...)
		want := fmt.Sprintf("weir: no help on %q: want one of the words that weir help lists\n", wrong)
		if status != statusUsage || said != want {
			t.Errorf("%v: status %d, %s, want %s", wrong, status, said, want)
		}
	}
}

func TestTopicsFitAScreen(t *testing.T) {
	overview := output(t)
	for _, topic := range topics {
		if !strings.Contains(overview, "\n  "+topic.name) {
			t.Errorf("the help of weir does not name the topic %s", topic.name)
		}
		text := output(t, "help", topic.name)
		fits(t, text)
		if strings.Contains(text, " \n") {
			t.Errorf("%s has blanks at the end of a line:\n%s", topic.name, text)
		}
	}
}

func TestLawsAreListedWhereTheyAreExplained(t *testing.T) {
	text := output(t, "help", "laws")
	for _, name := range lawNames() {
		if aboutLaws[name] == "" || !strings.Contains(text, "\n  "+name+"  ") {
			t.Errorf("no word about %s in:\n%s", name, text)
		}
	}
	if len(aboutLaws) != len(lawNames()) {
		t.Errorf("%d laws are explained, and there are %d", len(aboutLaws), len(lawNames()))
	}
	contains(t, text, "little", "alpha", "more than 0, by default 0.3", "setpoint", "without", "climb, burst")
	for _, command := range []string{"proxy", "sim run", "sim suite", "sim trace"} {
		help := strings.Join(strings.Fields(output(t, append(strings.Fields(command), "--help")...)), " ")
		if list := strings.Join(lawNames(), ", "); !strings.Contains(help, list) {
			t.Errorf("%s: --law does not list %s", command, list)
		}
	}
}

func TestTheExampleOfAScenarioRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "checkout.yaml")
	must.Write(t, file, helpText("checkout.yaml"))
	contains(t, output(t, "sim", "run", file, "--every", "20s"), "checkout, setpoint, seed 1", "20", "40", "60")
	contains(t, output(t, "help", "scenarios"), "slow30", "kata", "name: checkout\n", "    - {name: fault,")
}

func TestTheTraceTopicNamesFlags(t *testing.T) {
	text, help := output(t, "help", "trace"), output(t, "sim", "trace", "--help")
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

// explained reports whether weir help columns has the column below a title with the word.
func explained(title, column string) bool {
	_, text, found := strings.Cut(helpText("columns.txt"), title)
	_, text, _ = strings.Cut(text, "\n\n")
	list, _, _ := strings.Cut(text, "\n\n")
	word := regexp.MustCompile(`(?m)^  (\S.*, )?` + regexp.QuoteMeta(column) + `(, .*|  .*)?$`)
	return found && word.MatchString(list)
}

func TestColumnsAreExplained(t *testing.T) {
	for title, columns := range map[string][]string{
		"suite and trace: a line for each scenario": heads(cellColumns),
		"weir sim suite: a line for each law":       heads(summaryColumns),
		"--every: a line for each moment":           heads(momentColumns),
		"--choose: a line for each law":             heads(choiceColumns),
	} {
		for _, column := range columns {
			if !explained(title, column) {
				t.Errorf("weir help columns does not explain %q of %s", column, title)
			}
		}
	}
}

func heads[T any](columns []column[T]) (names []string) {
	for _, c := range columns {
		names = append(names, c.head)
	}
	return names
}

func TestFieldsAreExplained(t *testing.T) {
	for title, line := range map[string]any{
		"suite and trace with --json": sim.Score{Regime: "r", Starts: 1, StartGoodput: 1, Jain: 1, Harm: new(sim.Comparison)},
		"--summary":                   summary{},
		"--every and --json":          moment{},
	} {
		text := must.Have(json.Marshal(line))(t)
		var fields map[string]any
		must.Do(t, json.Unmarshal(text, &fields))
		for name := range fields {
			if !explained(title, name) {
				t.Errorf("weir help columns does not explain %s of %s", name, title)
			}
		}
	}
}

func TestCheckSaysThatAFileIsValid(t *testing.T) {
	const file = "internal/config/testdata/good/small.yaml"
	if got := output(t, "check", file); got != file+" is valid\n" {
		t.Error(got)
	}
}

func TestSchemaIsJSON(t *testing.T) {
	var schema struct{ Title string }
	if err := json.Unmarshal([]byte(output(t, "schema")), &schema); err != nil || schema.Title != "The file of weir proxy" {
		t.Errorf("%v: %q", err, schema.Title)
	}
}
