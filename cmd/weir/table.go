package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A table aligns the first columns to the left, and the other columns, which are numbers, to the
// right.
type table struct {
	left int
	rows [][]string
}

func (t *table) row(fields ...string) { t.rows = append(t.rows, fields) }

// gap separates two columns.
const gap = "  "

// write prints the table. Columns that do not fit the screen follow below, beside the left
// columns again.
func (t *table) write(to io.Writer) error {
	widths := t.widths()
	var out bytes.Buffer
	for from := t.left; ; {
		room := widthOf(to)
		for _, width := range widths[:t.left] {
			room -= width + len(gap)
		}
		end := from
		for end < len(widths) && (end == from || widths[end] <= room) {
			room -= widths[end] + len(gap)
			end++
		}
		for _, row := range t.rows {
			var line strings.Builder
			for i, field := range row {
				space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(field))
				switch {
				case i < t.left:
					line.WriteString(field + space + gap)
				case i >= from && i < end:
					line.WriteString(space + field + gap)
				}
			}
			out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		if end == len(widths) {
			break
		}
		out.WriteByte('\n')
		from = end
	}
	_, err := to.Write(out.Bytes())
	return err
}

func (t *table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, field := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(field))
		}
	}
	return widths
}

// widthOf returns the screen width of a table: the width of the terminal, or else of the narrowest
// terminal in use.
func widthOf(out io.Writer) int {
	if file := fileOf(out); file != nil {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 { //nolint:gosec // a file descriptor is small
			return columns
		}
	}
	return screen
}
