package main

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
)

// aboutLaws describes each law and its use.
var aboutLaws = map[string]string{
	"setpoint":  "holds the latency at a multiple of the latency without load, which it measures again and again. The default: it needs no target. without omits a move of the law, to measure its worth",
	"band":      "holds a latency in a band around a target",
	"pid":       "holds a latency at a target by a PID controller",
	"aimd":      "adds a slot while answers come in time, and cuts when they do not. For servers that refuse or time out",
	"gradient":  "goes by latency over the least it has seen. For work that stays the same",
	"gradient2": "goes by latency over its long-term average",
	"vegas":     "keeps the work that waits in the server between two bounds",
	"little":    "computes the limit from Little's law. For work that changes, before a pool of workers",
	"fixed":     "keeps one limit, for comparison",
}

func lawNames() (names []string) {
	for _, form := range law.Forms() {
		names = append(names, form.Name)
	}
	return names
}

func printLaws(out io.Writer) {
	fmt.Fprint(out, `A control law finds the limit. --law takes its name, with settings in
parentheses: --law setpoint, --law 'little(alpha=0.8,probe=0.5)'. Which one
suits your requests, weir sim trace LOG ... --choose says.

`)
	for _, form := range law.Forms() {
		define(out, []definition{{form.Name, aboutLaws[form.Name]}})
		for _, s := range form.Settings {
			preset := ""
			if s.Default != "" {
				preset = ", by default " + s.Default
			}
			fmt.Fprintf(out, "      %-16s  %s%s\n", s.Name, s.Allowed, preset)
		}
		fmt.Fprintln(out)
	}
}

func printScenarios(out io.Writer) {
	fmt.Fprint(out, "weir sim run takes the name of a scenario, or a file.\n\n")
	var list []definition
	for _, s := range suites.All() {
		list = append(list, definition{s.Name, s.About})
	}
	define(out, list)
	fmt.Fprintf(out, `
A file ends in .json, .yaml or .yml. Its errors name the field and what is
allowed. This one is a server that slows down for a third of the time:

%s

Package sim of the library documents all fields: go doc
github.com/weir-go/weir/sim Scenario.
`, strings.TrimSuffix(indented(helpText("checkout.yaml")), "\n"))
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}

// printText prints a file of the folder help.
func printText(name string) func(io.Writer) {
	return func(out io.Writer) { fmt.Fprint(out, helpText(name)) }
}

//go:embed help
var helpTexts embed.FS

func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name)
	if err != nil {
		panic(err) // a test prints all topics
	}
	return string(text)
}

// exitCodes explains the exit codes of weir in its help.
var exitCodes = []definition{
	{"0", "done. A proxy, a worker, a recording or a demonstration that was asked to stop by Ctrl-C or SIGTERM is done, too"},
	{fmt.Sprint(statusFailed), "something went wrong, or the output could not be written: what is on the standard error says what"},
	{fmt.Sprint(statusUsage), "the command line, a file or an address is wrong: nothing was started"},
	{fmt.Sprint(statusInterrupted), "a simulation, weir enqueue or weir jobs was interrupted by Ctrl-C or SIGTERM"},
}

func printExitCodes(out io.Writer) { define(out, exitCodes) }
