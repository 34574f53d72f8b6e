package sim

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Trace is requests that were recorded, in the order of their arrival.
type Trace []Arrival

// An Arrival is one recorded request.
type Arrival struct {
	At    time.Duration // since the start
	Work  time.Duration // its service time
	Class string        // the kind of client that sent it; may be empty
}

// Length is how long a scenario of the trace should last: until a second after the last
// arrival, so that most of what came is answered.
func (t Trace) Length() time.Duration {
	if len(t) == 0 {
		return time.Second
	}
	return t[len(t)-1].At + time.Second
}

// fits checks that there is a client for each class.
func (t Trace) fits(clients []Client) error {
	if len(clients) < 2 {
		return nil // all classes are alike
	}
	names := make([]string, len(clients))
	known := make(map[string]bool, len(clients))
	for i, c := range clients {
		names[i] = c.Name
		known[c.Name] = true
	}
	for i, r := range t {
		if !known[r.Class] {
			return &FieldError{Field: "trace", Problem: fmt.Sprintf("has class %q in request %d: want %s", r.Class, i+1, list(names))}
		}
	}
	return nil
}

// ParseTrace reads a trace from CSV: arrival time, service time and, if you like, class,
// one request a line, in the order of arrival. Times are seconds ("0.035") or have a
// unit ("35ms"). A first line that begins with "arrival" is a heading. The first bad
// line ends the reading with a [FieldError] that names the file, the line and what
// is allowed.
func ParseTrace(file string, r io.Reader) (Trace, error) {
	t := Trace{}
	classes := map[string]string{} // so that a class is in memory once
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSuffix(lines.Text(), "\r")
		if line == 1 && strings.HasPrefix(text, "arrival") {
			continue
		}
		a, field, problem := parseArrival(text)
		if problem == "" && len(t) > 0 && a.At < t[len(t)-1].At {
			field, problem = "arrival", fmt.Sprintf("is %v: want no less than %v, that of the line before", a.At, t[len(t)-1].At)
		}
		if problem != "" {
			return nil, &FieldError{File: file, Line: line, Field: field, Problem: problem}
		}
		if _, ok := classes[a.Class]; !ok {
			classes[strings.Clone(a.Class)] = strings.Clone(a.Class)
		}
		a.Class = classes[a.Class]
		t = append(t, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: after line %d: %w", file, len(t), err)
	}
	if len(t) == 0 {
		return nil, &FieldError{File: file, Line: 1, Field: "trace", Problem: "is empty: want a request a line, arrival,service[,class]"}
	}
	return t, nil
}

func parseArrival(line string) (a Arrival, field, problem string) {
	fields := strings.Split(line, ",")
	if len(fields) < 2 || len(fields) > 3 {
		return a, "line", fmt.Sprintf("has %d fields: want arrival,service[,class]", len(fields))
	}
	if len(fields) == 3 {
		a.Class = strings.TrimSpace(fields[2])
	}
	if a.At, problem = parseTime(fields[0], true); problem != "" {
		return a, "arrival", problem
	}
	a.Work, problem = parseTime(fields[1], false)
	return a, "service", problem
}

func parseTime(text string, zero bool) (d time.Duration, problem string) {
	want := "more than 0 and up to 10000h"
	if zero {
		want = "0 to 10000h"
	}
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseFloat(text, 64); e == nil && math.Abs(seconds) < 1e8 {
		d, err = time.Duration(math.Round(mul(seconds, 1e9))), nil
	}
	if err != nil {
		return 0, fmt.Sprintf("is %q: want seconds, or a time with a unit such as 35ms, %s", text, want)
	}
	if d < 0 || d > 10000*time.Hour || d == 0 && !zero {
		return 0, fmt.Sprintf("is %v: want %s", d, want)
	}
	return d, ""
}
