package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// A section explains the columns of a table.
type section struct {
	title   string
	columns []definition
}

const aboutOracle = `The oracle is the best of 40 constant limits for each phase of a scenario, with
the same requests. Good is what was answered without error and within the SLO.
Figures of several seeds are their means. Columns that do not fit into the
terminal, or elsewhere into 80 columns, follow below the others.
`

// columns returns the sections of weir help columns: tables made of columns, and then
// the tables of help/columns.txt, whose lines are "column | explanation" below a title.
func columns() []section {
	sections := []section{
		{"weir sim run, suite and trace: a line for each scenario and law", explanations(cellColumns)},
		{"weir sim suite: a line for each law, and with --regimes for each regime and law", explanations(summaryColumns)},
		{"weir sim run and trace with --every: a line for each moment", explanations(momentColumns)},
		{"weir sim trace with --choose: a line for each law, the best first", explanations(choiceColumns)},
	}
	for part := range strings.SplitSeq(helpText("columns.txt"), "\n\n") {
		title, lines, _ := strings.Cut(part, "\n")
		s := section{title: title}
		for line := range strings.Lines(lines) {
			word, meaning, _ := strings.Cut(strings.TrimSpace(line), " | ")
			s.columns = append(s.columns, definition{word, meaning})
		}
		sections = append(sections, s)
	}
	return sections
}

func printColumns(out io.Writer, _ *kong.Node) {
	fmt.Fprint(out, aboutOracle)
	for _, s := range columns() {
		fmt.Fprintf(out, "\n%s\n\n", s.title)
		define(out, s.columns)
	}
}
