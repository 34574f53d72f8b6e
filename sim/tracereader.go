package sim

import (
	"io"

	"github.com/weir-go/weir/internal/tracelog"
)

// A TraceReader configures how a log is read as a trace. The zero TraceReader reads CSV of
// arrival time, service time and, optionally, class, in this order; a first line that begins
// with "arrival" is a heading.
//
// Arrival, Service, Class and Deadline select the column of each value: by its name, or by its
// number from 1. A unit of the numbers in that column may follow, as in "took*us": h, m, s, ms, us
// or ns. A dot selects a member of a JSON object. If any of these fields is set, Arrival and
// Service must be set.
//
// A value is a number of seconds, or has a unit ("35ms"). A point in time may also be a date in ISO
// 8601 or in the form of access logs, or a number of seconds, milliseconds, microseconds or
// nanoseconds since 1970. A date without a zone is in UTC. A trace of dates begins at its first
// request. If all dates are whole seconds or minutes, the requests of the same second or minute are
// spread evenly over it.
type TraceReader struct {
	// Format is the format of a line: "csv", "json" (an object a line), or an access log: "common",
	// "combined", or a log_format of nginx, such as "combined $request_time", that names its
	// columns. Empty means json if the log begins with {, and csv otherwise. A comma separates the
	// columns of csv, unless the first line has a tab or a semicolon. The first line has the names
	// of the columns, if a column is selected by its name.
	Format string

	// Arrival is the arrival time of a request. In an access log it defaults to $msec, which is the
	// finest, $time_iso8601 or $time_local.
	Arrival string

	// Service is the service time of a request on an idle server.
	Service string

	// Class is the kind of client that sent a request. It is optional.
	Class string

	// Deadline is the time that the client of a request waits: a duration, or a date. A request
	// whose column is empty or "-" has no deadline of its own.
	Deadline string

	// AtEnd means that Arrival is the time at which the answer was sent, as in access
	// logs: the request came earlier by the service time.
	AtEnd bool
}

// Parse reads a trace; the file's name is for errors. It sorts requests by arrival. An error in the
// log is a [FieldError] that names the file, the line and the allowed values. [errors.Join] joins
// several errors: the first twenty, and the number of the other errors. The same error in many
// lines counts once.
func (t TraceReader) Parse(file string, r io.Reader) (Trace, error) {
	requests, err := tracelog.Reader(t).Read(file, r, func(file string, line int, field, problem string) error {
		return &FieldError{File: file, Line: line, Field: field, Problem: problem}
	})
	if err != nil {
		return nil, err
	}
	trace := make(Trace, len(requests))
	for i, r := range requests {
		trace[i] = Arrival(r)
	}
	return trace, nil
}
