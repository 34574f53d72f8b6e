package tracelog

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A table is a log, cut into requests and columns.
type table interface {
	// next returns the columns of the next request, which are valid until the next call,
	// and the line where it begins. A line that cannot be cut is a problem. The error
	// after the last one is io.EOF.
	next() (cells []string, line int, problem string, err error)
}

type csvTable struct{ *csv.Reader }

func newCSV(r io.Reader, delimiter rune) csvTable {
	in := csv.NewReader(r)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = delimiter, -1, true
	in.LazyQuotes = delimiter == '\t' // few programs that write tabs quote
	return csvTable{in}
}

func (t csvTable) next() (cells []string, line int, problem string, err error) {
	cells, err = t.Read()
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		problem = fmt.Sprintf("is no CSV: %v: want quotes around the whole of a field, and doubled inside of it, or the format of an access log", wrong.Err)
		return nil, wrong.StartLine, problem, nil
	}
	if err == nil {
		line, _ = t.FieldPos(0)
	}
	return cells, line, "", err
}

// lines yields the lines of a log that are not empty, each cut by a function.
type lines struct {
	*bufio.Scanner
	line int
	cut  func(line string) (cells []string, problem string)
}

// longestLine bounds a line of a log: a record of JSON with its headers is a few kilobytes.
const longestLine = 16 << 20

func newLines(r io.Reader, cut func(string) ([]string, string)) *lines {
	in := bufio.NewScanner(r)
	in.Buffer(nil, longestLine)
	return &lines{Scanner: in, cut: cut}
}

func (t *lines) next() (cells []string, line int, problem string, err error) {
	for t.Scan() {
		t.line++
		if text := strings.TrimSpace(t.Text()); text != "" {
			cells, problem = t.cut(text)
			return cells, t.line, problem, nil
		}
	}
	if err := t.Err(); err != nil {
		return nil, t.line + 1, "", fmt.Errorf("after line %d: %w", t.line, err)
	}
	return nil, t.line, "", io.EOF
}

// indexOf returns the index of the text in the line, and skips escaped quotes if the text
// begins with one.
func indexOf(line, text string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], text)
		if i < 0 || text == "" {
			return i
		}
		if i += from; i == 0 || text[0] != '"' || line[i-1] != '\\' {
			return i
		}
		from = i + 1
	}
}
