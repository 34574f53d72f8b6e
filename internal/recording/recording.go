package recording

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// mostLimiters is how many names a recording has at most.
const mostLimiters = 1000

// A Recording is a whole one.
type Recording struct {
	Limiters map[string]*Details // all of them whole
	Requests []Request           // the last ones that were refused
	lines    map[string]Line
	tables   []Table
	more     int
}

// Load reads a whole recording.
func Load(in io.Reader) (*Recording, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	all := &Recording{Limiters: map[string]*Details{}, lines: map[string]Line{}}
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = all.add(m)
			if err != nil {
				err = fmt.Errorf("line %d: %w", r.line, err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all.Limiters) == 0 {
		return nil, fmt.Errorf("line %d: the recording ends without a reading", r.line)
	}
	return all, nil
}

func (all *Recording) add(m Message) error {
	if o := m.Overview; o != nil {
		for _, l := range o.Limiters {
			all.lines[l.Name] = l
		}
		all.more, all.tables = max(all.more, o.More), o.Tables
		return all.bounded()
	}
	if m.Details == nil {
		all.refused(m.Requests)
		return nil
	}
	whole := all.Limiters[m.Details.Name]
	if whole == nil {
		whole = &Details{Name: m.Details.Name, Whole: true, Changes: []Change{}}
		all.Limiters[whole.Name] = whole
	}
	whole.add(m.Details)
	return all.bounded()
}

// refused adds requests. After a lost connection a dashboard sends the last ones again.
func (all *Recording) refused(requests []Request) {
	for _, r := range requests {
		if !slices.Contains(all.Requests, r) {
			all.Requests = append(all.Requests, r)
		}
	}
	all.Requests = all.Requests[max(0, len(all.Requests)-MostRequests):]
}

func (all *Recording) bounded() error {
	if n := max(len(all.lines), len(all.Limiters)); n > mostLimiters {
		return fmt.Errorf("has the limiter number %d: want %d at most", n, mostLimiters)
	}
	return nil
}

// add adds the new readings. After a lost connection a dashboard sends all that it has again, and
// where its clock was turned back its times come again.
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
	d.Refusals, d.Decision, d.Belief = o.Refusals, o.Decision, o.Belief
}

// Overview has the last line of each limiter.
func (all *Recording) Overview() *Overview {
	o := &Overview{Limiters: []Line{}, More: all.more, Tables: all.tables}
	for _, name := range slices.Sorted(maps.Keys(all.Limiters)) {
		line := all.lines[name]
		line.Name = name
		o.Limiters = append(o.Limiters, line)
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
	return min(from, to), to
}
