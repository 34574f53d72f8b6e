package tracelog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type logParser struct {
	Reader

	simple  bool     // no field is set
	first   string   // the first line of the log, which determines the format
	table   table    // the log, cut into columns
	names   []string // of the columns, if they have any
	heading int      // the line of the names, 0 if no line has names
	rows    int      // rows read, without a heading of names
	least   int      // columns that a row needs

	arrival, service, class, deadline *source
	stamps                            stamps

	problems

	requests    []Request // with arrivals as written
	dates       bool      // arrivals are dates
	early, late seen      // the first and the last arrival
}

// byteOrderMark begins the files of some programs.
const byteOrderMark = "\xef\xbb\xbf"

// open detects the format of the log, and the column of each value.
func (p *logParser) open(in *bufio.Reader) error {
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(mark)) // just peeked
	}
	start, _ := in.Peek(in.Size())
	p.first, _, _ = strings.Cut(strings.TrimLeft(string(start), " \r\n"), "\n")
	p.simple = p.Arrival+p.Service+p.Class+p.Deadline == "" && (p.Format == "" || p.Format == "csv")
	switch {
	case p.Format == "" && !p.simple && strings.HasPrefix(p.first, "{"), p.Format == "json":
		p.Format = "json"
		p.names = p.wanted()
		p.table = newLines(in, objects(p.names))
	case p.Format == "" || p.Format == "csv":
		if err := p.openCSV(in); err != nil {
			return err
		}
	default:
		if err := p.openAccessLog(in); err != nil {
			return err
		}
	}
	p.bind()
	return p.err()
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// openCSV detects delimiter and heading.
func (p *logParser) openCSV(in io.Reader) error {
	delimiter := ','
	if bare := quoted.ReplaceAllString(p.first, ""); !p.simple {
		for _, other := range ";\t" {
			if strings.ContainsRune(bare, other) {
				delimiter = other
			}
		}
	}
	p.table = newCSV(in, delimiter)
	if len(p.wanted()) == 0 {
		return nil
	}
	cells, line, problem, err := p.table()
	switch {
	case errors.Is(err, io.EOF):
		return nil // there are no requests, which is reported later
	case err != nil:
		return fmt.Errorf("%s: %w", p.file, err)
	case problem != "":
		return p.fault(p.file, line, "heading", problem)
	}
	p.heading = line
	for _, cell := range cells {
		p.names = append(p.names, strings.Clone(strings.TrimSpace(cell)))
	}
	return nil
}

func (p *logParser) openAccessLog(in io.Reader) error {
	template, problem := parseTemplate(p.Format)
	if problem != "" {
		return p.fault("", 0, "format", problem)
	}
	p.names = template.names
	p.table = newLines(in, template.cut)
	for _, name := range []string{"msec", "time_iso8601", "time_local"} {
		if p.Arrival == "" && slices.Contains(p.names, name) {
			p.Arrival = name
		}
	}
	return nil
}

// wanted returns the columns that are selected by name.
func (p *logParser) wanted() (names []string) {
	for _, text := range []string{p.Arrival, p.Service, p.Class, p.Deadline} {
		name, _ := cutUnit(text)
		if _, err := strconv.Atoi(name); err != nil && text != "" {
			names = append(names, name)
		}
	}
	return names
}
