package recording

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// mostLimiters bounds the limiters of a recording that are kept. A set of tenants may have had
// more.
const mostLimiters = 1000

// A Recording is a whole recording in memory.
type Recording struct {
	Limiters map[string]*Details // by name, the whole details
	Requests []Request           // the last refused requests
	lines    map[string]Line     // by name, of the limiters that are kept
	left     map[string]bool     // names of the limiters that are not kept
	tables   []Table
	more     int // limiters that the dashboard did not show
}

// Load reads a whole recording.
func Load(in io.Reader) (*Recording, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	all := &Recording{Limiters: map[string]*Details{}, lines: map[string]Line{}, left: map[string]bool{}}
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		all.add(m)
	}
	if _, last := all.Span(); last == 0 {
		return nil, fmt.Errorf("line %d: the recording ends without a reading", r.line)
	}
	return all, nil
}

func (all *Recording) add(m Message) {
	switch d, o := m.Details, m.Overview; {
	case o != nil:
		for _, l := range o.Limiters {
			if all.keeps(l.Name) {
				all.lines[l.Name] = l
			}
		}
		all.more, all.tables = o.More, o.Tables
	case d == nil:
		all.refused(m.Requests)
	case all.keeps(d.Name):
		whole := all.Limiters[d.Name]
		if whole == nil {
			whole = &Details{Name: d.Name, Whole: true, Points: []Point{}, Changes: []Change{}}
			all.Limiters[d.Name] = whole
		}
		whole.add(d)
	}
}

// keeps reports whether there is room for the limiter of a name.
func (all *Recording) keeps(name string) bool {
	if _, known := all.lines[name]; known {
		return true
	}
	if len(all.lines) == mostLimiters {
		all.left[name] = true
		return false
	}
	all.lines[name] = Line{Name: name}
	return true
}

// refused adds the new requests. After a lost connection a dashboard sends the last requests again.
func (all *Recording) refused(requests []Request) {
	for _, r := range requests {
		if !slices.Contains(all.Requests, r) {
			all.Requests = append(all.Requests, r)
		}
	}
	all.Requests = all.Requests[max(0, len(all.Requests)-MostRequests):]
}

// add adds the new readings. After a lost connection a dashboard sends all its readings again. A
// clock that was turned back repeats its times.
func (d *Details) add(o *Details) {
	last, lastColumn := int64(-1), int64(-1)
	if n := len(d.Points); n > 0 {
		last = d.Points[n-1].At
	}
	if n := len(d.Heat); n > 0 {
		lastColumn = d.Heat[n-1].At
	}
	d.Heat = append(d.Heat, slices.DeleteFunc(o.Heat, func(c Column) bool { return c.At <= lastColumn })...)
	d.Points = append(d.Points, slices.DeleteFunc(o.Points, func(p Point) bool { return p.At <= last })...)
	d.Changes = append(d.Changes, slices.DeleteFunc(o.Changes, func(c Change) bool { return c.At <= last })...)
	d.Refusals, d.Decision, d.Belief = append([]Refusal{}, o.Refusals...), o.Decision, o.Belief
}

// Overview returns an overview with the last line of each limiter.
func (all *Recording) Overview() *Overview {
	o := &Overview{Limiters: []Line{}, More: all.more + len(all.left), Tables: all.tables}
	for _, name := range slices.Sorted(maps.Keys(all.Limiters)) {
		o.Limiters = append(o.Limiters, all.lines[name])
	}
	return o
}

// Span returns the times of the first and the last reading in milliseconds of Unix time.
func (all *Recording) Span() (from, to int64) {
	from = math.MaxInt64
	for _, d := range all.Limiters {
		if n := len(d.Points); n > 0 {
			from, to = min(from, d.Points[0].At), max(to, d.Points[n-1].At)
		}
	}
	return from, to
}
