package tracelog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"
)

// isHeading reports whether the first row is a heading although no column is referenced by
// name.
func (p *logParser) isHeading(cells []string) bool {
	switch {
	case p.simple:
		return strings.HasPrefix(cells[0], "arrival")
	case p.names != nil || len(cells) < p.least:
		return false
	}
	return p.isForeign(cells)
}

// isForeign reports whether neither arrival nor service can be read from the first row.
func (p *logParser) isForeign(cells []string) bool {
	_, badArrival := p.stamps.parse(p.arrival.text(cells))
	_, badService := parseTime(p.service.text(cells), false)
	return badArrival != "" && badService != ""
}

// foreign returns the advice for a log that is not in the simple format.
func (p *logParser) foreign() string {
	want := "which columns are arrival and service"
	switch {
	case strings.HasPrefix(p.first, "{"):
		p.Format = "json"
		want += p.choice()
	case inAccessLog.MatchString(p.first):
		want = "the format of the access log, such as 'combined $request_time', and which column is service"
	}
	return fmt.Sprintf("is %q: want arrival,service[,class], such as 0.5,35ms, or to be told %s",
		shortened(strings.TrimRight(p.first, "\r")), want)
}

// misfit returns the problem with the number of columns of a row.
func (p *logParser) misfit(cells []string) (problem string) {
	n := len(cells)
	switch {
	case p.simple && (n < 2 || n > 3):
		return fmt.Sprintf("has %d fields: want arrival,service[,class]", n)
	case p.names != nil && n != len(p.names):
		return fmt.Sprintf("has %d columns: want %d: %s", n, len(p.names), shown(p.names))
	case n < p.least:
		return fmt.Sprintf("has %d columns: want at least %d", n, p.least)
	}
	return ""
}

func (p *logParser) request(cells []string, line int) {
	before := p.count
	at, problem := p.stamps.parse(p.arrival.text(cells))
	switch {
	case problem != "":
		p.add(line, p.arrival.label, problem)
	case p.early.line == 0:
		p.dates, p.early, p.late = at.date, seen{at.ns, line}, seen{at.ns, line}
	case at.date != p.dates:
		p.add(line, p.arrival.label, fmt.Sprintf("is %q, and those before %s: want all of them alike",
			shortened(p.arrival.text(cells)), kindOfStamp[p.dates]))
	}
	work, problem := parseTime(p.service.text(cells), false)
	if problem != "" {
		p.add(line, p.service.label, problem)
	}
	a := Request{At: time.Duration(at.ns), Work: work}
	if p.deadline != nil {
		if a.Deadline, problem = p.patience(cells, a); problem != "" {
			p.add(line, p.deadline.label, problem)
		}
	}
	if p.class != nil && p.class.column < len(cells) {
		a.Class = unique.Make(strings.TrimSpace(cells[p.class.column])).Value() // there are few
	}
	if p.count > before {
		return
	}
	if at.ns < p.early.at {
		p.early = seen{at.ns, line}
	}
	if at.ns > p.late.at {
		p.late = seen{at.ns, line}
	}
	p.requests = append(p.requests, a)
}

type seen struct {
	at   int64
	line int
}

var kindOfStamp = map[bool]string{true: "are dates", false: "are times since the start"}

// patience reads the time that the client of a request waits.
func (p *logParser) patience(cells []string, a Request) (d time.Duration, problem string) {
	text := p.deadline.text(cells)
	if text == "" || text == "-" {
		return 0, ""
	}
	until, problem := p.stamps.parse(text)
	d = time.Duration(until.ns)
	switch {
	case problem != "":
		return 0, problem
	case until.date && !p.dates:
		return 0, "is a date, and the arrival is not: want a time"
	case until.date:
		d -= a.At
		if p.AtEnd {
			d += a.Work
		}
	}
	if problem = timeProblem(d, false); problem != "" {
		problem += " after the arrival"
	}
	return d, problem
}

// trace returns the requests in the order of their arrival, or the problems of the log.
func (p *logParser) trace() ([]Request, error) {
	t := p.requests
	switch span := time.Duration(p.late.at - p.early.at); {
	case len(t) == 0 && p.count == 0:
		p.add(1, "trace", "is empty: want a request a line")
	case span > longest:
		p.add(p.late.line, p.arrival.label,
			fmt.Sprintf("is %v after that in line %d: want at most 10000h", span, p.early.line))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	byArrival := func(a, b Request) int { return cmp.Compare(a.At, b.At) }
	slices.SortStableFunc(t, byArrival)
	spread(t, p.resolution())
	if p.AtEnd {
		for i := range t {
			t[i].At -= t[i].Work
		}
		slices.SortStableFunc(t, byArrival)
	}
	if start := t[0].At; p.dates || start < 0 {
		for i := range t {
			t[i].At -= start
		}
	}
	return t, nil
}

// resolution returns the time over which requests of the same date came, because programs often cut
// dates to seconds or minutes. It is 0 if the dates are exact.
func (p *logParser) resolution() time.Duration {
	units := []time.Duration{time.Second}
	if p.early.at != p.late.at || p.stamps.inMinutes() {
		units = []time.Duration{time.Minute, time.Second}
	}
	for _, unit := range units {
		cut := func(a Request) bool { return a.At%unit != 0 }
		if p.dates && !slices.ContainsFunc(p.requests, cut) {
			return unit
		}
	}
	return 0
}

// spread spreads the requests of equal time evenly over the resolution of their log.
func spread(t []Request, resolution time.Duration) {
	for from := 0; from < len(t); {
		same := from
		for same < len(t) && t[same].At == t[from].At {
			same++
		}
		for i := range t[from:same] {
			t[from+i].At += resolution / time.Duration(same-from) * time.Duration(i)
		}
		from = same
	}
}
