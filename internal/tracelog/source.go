package tracelog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A source is the location of a value in a row.
type source struct {
	label   string   // its name in errors
	name    string   // of its column, if it has a name
	column  int      // number of its column, -1 if it is computed
	formula *formula // that computes it
	columns []int    // arguments of the formula
	values  []float64
}

func (p *logParser) bind() {
	if p.simple {
		p.arrival = &source{label: "arrival", column: 0}
		p.service = &source{label: "service", column: 1}
		p.class = &source{column: 2}
		p.least = 2
		return
	}
	p.arrival, p.service = p.source("arrival", p.Arrival), p.source("service", p.Service)
	p.class, p.deadline = p.source("class", p.Class), p.source("deadline", p.Deadline)
	for _, s := range []*source{p.arrival, p.service, p.class, p.deadline} {
		if s != nil {
			p.least = max(p.least, s.column+1, slices.Max(append(s.columns, -1))+1)
		}
	}
}

// source finds the columns of one value.
func (p *logParser) source(field, text string) *source {
	required := field == "arrival" || field == "service"
	if text == "" {
		if required {
			p.add(p.heading, field, "is missing: want a column, or a formula of columns"+p.choice())
		}
		return nil
	}
	if i := slices.Index(p.names, text); i >= 0 && p.Format != "json" {
		return &source{label: fmt.Sprintf("%s (%s)", field, text), name: text, column: i}
	}
	if number, err := strconv.Atoi(text); err == nil {
		if number < 1 || p.Format == "json" || p.heading > 0 && number > len(p.names) {
			p.add(p.heading, field, fmt.Sprintf("is %s, and there is no such column%s", text, p.choice()))
		}
		return &source{label: fmt.Sprintf("%s (column %d)", field, number), column: number - 1}
	}
	f, problem := parseFormula(text)
	if problem != "" && p.Format != "json" {
		p.add(p.heading, field, problem+p.choice())
		return nil
	}
	if problem != "" {
		f = &formula{names: []string{text}, numbers: []int{0}, plain: true}
	}
	s := &source{label: field, column: -1, formula: f, values: make([]float64, len(f.names))}
	for i, name := range f.names {
		column := f.numbers[i] - 1
		if column < 0 {
			column = slices.Index(p.names, name)
		}
		if column < 0 || required && p.Format == "json" && !slices.Contains(p.keys(), name) {
			p.add(p.heading, field, fmt.Sprintf("needs column %q, which is not there%s", name, p.choice()))
		}
		s.columns = append(s.columns, column)
	}
	if field == "class" && !f.plain {
		p.add(p.heading, field, fmt.Sprintf("is %q: want a column", text))
	}
	if f.plain {
		s.column, s.name, s.label = s.columns[0], f.names[0], fmt.Sprintf("%s (%s)", field, f.names[0])
	}
	return s
}

// keys returns the names of the members in the first line of JSON.
func (p *logParser) keys() []string {
	object, _ := objectOf(p.first) // a line that is not an object is reported when it is read
	return keysOf(object)
}

func (p *logParser) choice() string {
	names := p.names
	if p.Format == "json" {
		names = p.keys()
	}
	if len(names) == 0 {
		return ""
	}
	return "; the columns are " + strings.Join(names, ", ")
}

func (s *source) text(cells []string) string {
	if s.column < 0 {
		return ""
	}
	return strings.TrimSpace(cells[s.column])
}

// stamp reads a point in time.
func (s *source) stamp(cells []string, stamps *stamps) (at stamp, problem string) {
	if s.column >= 0 {
		return stamps.parse(cells[s.column])
	}
	seconds, problem := s.compute(cells)
	if problem != "" {
		return at, problem
	}
	if seconds >= firstEpoch && seconds < lastEpoch {
		return stamp{int64(mul(seconds, 1e9)), true}, ""
	}
	d, problem := timeOf(seconds, true)
	return stamp{ns: int64(d)}, problem
}

// time reads a time that is more than 0.
func (s *source) time(cells []string) (d time.Duration, problem string) {
	if s.column >= 0 {
		d, problem = parseTime(cells[s.column], false)
	} else {
		var seconds float64
		if seconds, problem = s.compute(cells); problem == "" {
			d, problem = timeOf(seconds, false)
		}
	}
	if s.name != "" && strings.HasPrefix(problem, "is 0s") {
		problem += fmt.Sprintf("; where it was too short to be measured, max(%s, 0.5*ms) has something", s.name)
	}
	return d, problem
}

func (s *source) compute(cells []string) (seconds float64, problem string) {
	for i, column := range s.columns {
		text := strings.TrimSpace(cells[column])
		v, err := strconv.ParseFloat(text, 64)
		if d, bad := time.ParseDuration(text); err != nil && bad == nil {
			v, err = d.Seconds(), nil
		}
		if err != nil {
			return 0, fmt.Sprintf("needs %s, which is %q: want a number, or a time with a unit such as 35ms",
				s.formula.names[i], text)
		}
		s.values[i] = v
	}
	return s.formula.value(s.values), ""
}
