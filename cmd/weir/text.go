package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// screen is the width of weir's texts in columns: the width of the narrowest terminal in use.
const screen = 80

type definition struct{ word, meaning string }

// define writes a list of definitions with aligned meanings.
func define(out io.Writer, list []definition) {
	const widest = 24
	column := 0
	for _, d := range list {
		if n := utf8.RuneCountInString(d.word); n <= widest {
			column = max(column, n)
		}
	}
	for _, d := range list {
		fmt.Fprintf(out, "  %-*s", column, d.word)
		indent := "  "
		if utf8.RuneCountInString(d.word) > column {
			indent = fmt.Sprintf("\n%*s", column+4, "")
		}
		for _, line := range wrapped(d.meaning, screen-column-4) {
			fmt.Fprintf(out, "%s%s", indent, line)
			indent = fmt.Sprintf("\n%*s", column+4, "")
		}
		fmt.Fprintln(out)
	}
}

func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
