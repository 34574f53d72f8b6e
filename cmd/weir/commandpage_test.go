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

// TestCommandPage compares the tables of docs/command.md with the command's own help.
func TestCommandPage(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "command.md")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this module is alone, without the documents")
	}
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(nil, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	commands := variables(parser.Model.Node)
	var setting []definition
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		setting = append(setting, definition{name, strings.Join(commands[name], ", ")})
	}
	var laws strings.Builder
	for _, form := range law.Forms() {
		var settings []string
		for _, s := range form.Settings {
			text := s.Name
			if s.Default != "" {
				text += " (" + s.Default + ")"
			}
			settings = append(settings, text)
		}
		laws.WriteString(row(form.Name, aboutLaws[form.Name], strings.Join(settings, ", ")))
	}
	var all strings.Builder
	for _, s := range columns() {
		fmt.Fprintf(&all, "\n**%s**\n\n| column | |\n|---|---|\n%s", s.title, rows(s.columns))
	}
	page := string(text)
	for _, part := range []struct{ below, text string }{
		{"\n| code | |\n|---|---|\n", rows(exitCodes)},
		{"\n| variable | sets the flag of |\n|---|---|\n", rows(append(setting, otherVariables...))},
		{"\n| law | | settings |\n|---|---|---|\n", laws.String()},
		{"\n## Columns\n\n", aboutOracle + all.String()},
	} {
		before, after, found := strings.Cut(page, part.below)
		if !found {
			t.Fatalf("docs/command.md has no %q", part.below)
		}
		rest := ""
		if i := strings.Index(after, "\n## "); i >= 0 {
			rest = after[i:]
		}
		page = before + part.below + part.text + rest
	}
	if *update {
		written(t, file, page)
		return
	}
	if page != string(text) {
		t.Error("docs/command.md is out of date: go test ./cmd/weir -run CommandPage -update")
	}
}

// rows are the definitions as rows of a table.
func rows(list []definition) string {
	var out strings.Builder
	for _, d := range list {
		out.WriteString(row(d.word, d.meaning))
	}
	return out.String()
}

func row(cells ...string) string {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return fmt.Sprintf("| %s |\n", strings.Join(cells, " | "))
}
