package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/law"
)

const commandPreface = `# The command weir

` + "`weir`" + ` limits a server as a proxy, shows what a limit is worth, and simulates control laws. In a
clone, ` + "`go install ./cmd/weir`" + ` builds it.

| to | run | more |
|---|---|---|
| see what a limit is worth | ` + "`weir demo`" + ` | below |
| limit a server in any language | ` + "`weir proxy --to http://127.0.0.1:9000`" + ` | [proxy](proxy.md) |
| find out what is wrong with a file of the proxy | ` + "`weir check weir.yaml`" + ` | [its settings](proxy-config.md) |
| choose a law from your own log | ` + "`weir sim trace access.log ... --choose`" + ` | [traces](traces.md) |
| compare laws on a scenario | ` + "`weir sim run slow30 --law little --law setpoint --plot slow30.svg`" + ` | [control](control.md) |

` + "`weir`" + ` alone prints its help, as ` + "`weir help`" + ` does. ` + "`weir help sim run`" + ` prints that of a command, and
` + "`weir help laws`" + ` explains a topic: laws, scenarios, trace, columns, environment or exit-codes. A
command, flag, scenario, law or setting that is almost right gets a suggestion; another error lists
the names that there are.

## The demonstration

` + "`weir demo`" + ` starts three servers on loopback, with no limit, with a fixed one that was right on a
good day, and with an adaptive one, and sends each one and a half times what it can answer. In the
middle third they slow down. On a terminal of 80 columns and 24 rows or more it draws what each of
them answers in time, and the adaptive limit; in a pipe, on a smaller terminal or with ` + "`TERM=dumb`" + `
it prints a line a second. Both end with the same table. ` + "`NO_COLOR`" + ` has it without colours.

## Pictures

` + "`--plot FILE.svg`" + ` of ` + "`weir sim`" + ` draws limit, work in flight, throughput, goodput and the p99 of
latency over time, or those of them that ` + "`--panel`" + ` names. Dashed lines are the oracle's, the best
constant limit of each phase; the dotted line is the SLO. The axis of latency ends at four times the
SLO. Colours fit light and dark pages. Browsers show SVG; for PNG convert it, for example by
` + "`rsvg-convert`" + `.

## Completion

| shell | |
|---|---|
| bash | put ` + "`source <(weir completion bash)`" + ` into ~/.bashrc |
| zsh | put ` + "`source <(weir completion zsh)`" + ` into ~/.zshrc, below compinit |
| fish | ` + "`weir completion fish >~/.config/fish/completions/weir.fish`" + ` |

The scripts ask the installed ` + "`weir`" + `, so they need not be made anew with a new version.

## Exit codes

| code | |
|---|---|
`

const variablesPreface = `
## Environment

A flag can be set by a variable of its name. The flag on the command line goes before it, and an
empty variable sets nothing. A variable that begins with WEIR_ and sets nothing is reported on the
standard error, with the one that was probably meant; those that Kubernetes sets beside a service
named weir are not. Settings of the proxy's file are set
[by their path](proxy-config.md#the-environment).

| variable | sets the flag of |
|---|---|
`

const lawsPreface = `
## Laws

` + "`--law`" + ` takes the name of a law, with settings in parentheses:
` + "`--law 'little(alpha=0.8,probe=0.5)'`" + `. [control.md](control.md) compares them.

| law | | settings |
|---|---|---|
`

const columnsPreface = `
## Columns

`

// TestCommandPage compares docs/command.md with the command's own help.
func TestCommandPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "command.md")
	if _, err := os.Stat(filepath.Dir(page)); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this module is alone, without the documents")
	}
	var want strings.Builder
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(&want, "| %s |\n", strings.Join(cells, " | "))
	}
	want.WriteString(commandPreface)
	for _, d := range exitCodes {
		row(d.word, d.meaning)
	}
	want.WriteString(variablesPreface)
	parser, err := newParser(nil, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	all := variables(parser.Model.Node)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row(name, strings.Join(all[name], ", "))
	}
	for _, d := range otherVariables {
		row(d.word, d.meaning)
	}
	want.WriteString(lawsPreface)
	for _, form := range law.Forms() {
		var settings []string
		for _, s := range form.Settings {
			text := s.Name
			if s.Default != "" {
				text += " (" + s.Default + ")"
			}
			settings = append(settings, text)
		}
		row(form.Name, aboutLaws[form.Name], strings.Join(settings, ", "))
	}
	want.WriteString(columnsPreface + aboutOracle)
	for _, s := range columns {
		fmt.Fprintf(&want, "\n**%s**\n\n| column | |\n|---|---|\n", s.title)
		for _, d := range s.columns {
			row(d.word, d.meaning)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(want.String()), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want.String() {
		t.Errorf("docs/command.md is out of date: go test ./cmd/weir -run CommandPage -update (%v)", err)
	}
}
