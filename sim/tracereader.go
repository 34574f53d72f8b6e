package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// A TraceReader says how a log is read as a trace. The zero TraceReader reads CSV of arrival time,
// service time and, if you like, class, in this order; a first line that begins with "arrival" is a
// heading.
//
// Arrival, Service, Class and Deadline name columns: by name, by its number from
// 1, or by a formula in seconds. A formula consists of numbers, columns, + - * /, parentheses, min
// and max, the units h, m, s, ms, us and ns, as in "20*ms + 0.00005*prompt_tokens", and col(3) for
// the third column. A column whose name would be something else stands in quotes there, one inside
// of a JSON object after a dot. As soon as any of them is set, Arrival and Service must be.
//
// A value is seconds, or has a unit ("35ms"). Where it is when something happened it may be a date
// as well, in ISO 8601 or as access logs have it, in UTC if it does not say, or seconds,
// milliseconds, microseconds or nanoseconds since 1970. A trace of dates begins at its first
// request.
type TraceReader struct {
	// Format is how a line is written: "csv", "json" (an object a line), or as an access log:
	// "common", "combined", or a log_format of nginx, such as "combined $request_time", that names
	// its columns. Empty is json if the log begins with {, and csv otherwise.
	Format string

	// Delimiter separates the columns of csv: a comma, a semicolon, a tab or a space. Columns are
	// separated by any number of spaces, and quotes and brackets hold one together. 0 stands for a
	// comma in the zero TraceReader; otherwise for a tab if the first line has one outside of
	// quotes, or else a semicolon, a comma or a space.
	Delimiter rune

	// Columns names the columns of csv. Without it the first line does, if a column is referred to
	// by its name.
	Columns []string

	// Arrival is when a request came. In an access log it defaults to $time_local, $time_iso8601 or
	// $msec.
	Arrival string

	// Service is how long the server works on it when it has nothing else to do.
	Service string

	// Class is the kind of client that sent it, if any.
	Class string

	// Deadline is how long its client waits: a time, or a date until which it does. A request whose
	// column is empty or "-" has none of its own.
	Deadline string

	// AtEnd says that Arrival is when the answer was sent, as access logs have it: the service time
	// before that, the request came.
	AtEnd bool

	// Resolution is the resolution of the arrival times: requests of equal time are spread evenly
	// over so long. Defaults to a second if all are dates without a fraction, and else to nothing.
	Resolution time.Duration
}

// Parse reads a trace; the file's name is for errors. Requests are put in the order of arrival.
// A fault of the log is a [FieldError] that names the file, the line and the allowed values,
// or several of them, joined by [errors.Join]: the first twenty, and how many more there are. A
// fault of many lines is one error.
func (t TraceReader) Parse(file string, r io.Reader) (Trace, error) {
	p := &traceParser{TraceReader: t, problems: problems{file: file}, classes: map[string]string{}}
	if err := p.open(bufio.NewReaderSize(r, 1<<16)); err != nil {
		return nil, err
	}
	for {
		cells, line, problem, err := p.table.next()
		switch {
		case errors.Is(err, io.EOF):
			return p.trace()
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if p.rows++; p.rows == 1 && problem == "" && p.isHeading(cells) {
			continue
		}
		if problem == "" {
			problem = p.misfit(cells)
		}
		if p.rows == 1 && p.simple && (problem != "" || p.isForeign(cells)) {
			return nil, &FieldError{File: file, Line: line, Field: "line", Problem: p.foreign()}
		}
		if problem != "" {
			p.problems.add(line, "line", problem)
			continue
		}
		p.request(cells, line)
	}
}
