package tracelog

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A table cuts a log into requests and columns. Each call returns the columns of the next request,
// which are valid until the next call, and the line where the request begins. A line that cannot be
// cut is a problem. After the last request the error is io.EOF.
type table func() (cells []string, line int, problem string, err error)

// longestLine bounds a line of a log: a record of JSON with its headers is a few kilobytes.
const longestLine = 16 << 20

var errTooLong = fmt.Errorf("a line has more than %d bytes, or a quote has no end", longestLine)

// bounded reads up to left bytes.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err = b.Reader.Read(p)
	b.left -= n
	return n, err
}

func newCSV(r io.Reader, delimiter rune) table {
	from := &bounded{Reader: r}
	in := csv.NewReader(from)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = delimiter, -1, true
	in.LazyQuotes = delimiter == '\t' // few programs that write tabs write quotes
	line := 0
	return func() ([]string, int, string, error) {
		from.left = longestLine
		cells, err := in.Read()
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			problem := fmt.Sprintf("is no CSV: %v: want quotes around the whole of a field, and doubled inside of it, or the format of an access log", wrong.Err)
			return nil, wrong.StartLine, problem, nil
		case err == nil:
			line, _ = in.FieldPos(0)
			if in.LazyQuotes && slices.ContainsFunc(cells, func(cell string) bool { return strings.Contains(cell, "\n") }) {
				return nil, line, "has a quote that ends on another line, or nowhere: want each request on one line", nil
			}
		case !errors.Is(err, io.EOF):
			err = fmt.Errorf("after line %d: %w", line, err)
		}
		return cells, line, "", err
	}
}

// newLines returns a table of the lines that are not empty, each cut by a function.
func newLines(r io.Reader, cut func(line string) (cells []string, problem string)) table {
	in := bufio.NewScanner(r)
	in.Buffer(nil, longestLine)
	line := 0
	return func() ([]string, int, string, error) {
		for in.Scan() {
			line++
			if text := strings.TrimSpace(in.Text()); text != "" {
				cells, problem := cut(text)
				return cells, line, problem, nil
			}
		}
		if err := in.Err(); err != nil {
			return nil, line + 1, "", fmt.Errorf("after line %d: %w", line, err)
		}
		return nil, line, "", io.EOF
	}
}

// indexOf returns the index of the text in the line, and skips escaped quotes if the text begins
// with a quote. A backslash may be escaped too, as in logs of Apache.
func indexOf(line, text string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], text)
		if i < 0 {
			return i
		}
		i += from
		before := line[:i]
		if escapes := len(before) - len(strings.TrimRight(before, `\`)); text[0] != '"' || escapes%2 == 0 {
			return i
		}
		from = i + 1
	}
}
