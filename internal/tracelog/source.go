package tracelog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A source is the column of a value.
type source struct {
	label  string // its name in errors
	column int
	unit   time.Duration // of its numbers, 0 for the usual unit
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
			p.least = max(p.least, s.column+1)
		}
	}
}

// source finds the column of one value.
func (p *logParser) source(field, text string) *source {
	required := field == "arrival" || field == "service"
	name, unit := cutUnit(text)
	column := slices.Index(p.names, name)
	number, err := strconv.Atoi(name)
	keys, known := p.keys()
	switch {
	case text == "" && required:
		p.add(p.heading, field, "is missing: want a column"+p.choice())
		return nil
	case text == "":
		return nil
	case p.Format == "json" && required && known && !slices.Contains(keys, name):
		column = -1 // the first line does not have it
	case column < 0 && err == nil && p.Format != "json" && (p.heading == 0 || number <= len(p.names)):
		column = number - 1
	}
	if column < 0 {
		p.add(p.heading, field, fmt.Sprintf("is %q, and there is no such column%s", text, p.choice()))
	}
	return &source{fmt.Sprintf("%s (%s)", field, name), column, unit}
}

var units = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}

// cutUnit splits "column*us" into the column and the unit of its numbers.
func cutUnit(text string) (name string, unit time.Duration) {
	star := strings.LastIndexByte(text, '*')
	if unit = units[text[star+1:]]; star >= 0 && unit > 0 {
		return text[:star], unit
	}
	return text, 0
}

// keys returns the names of the members in the first line of JSON that are no objects. The names
// are unknown if the line is longer than the buffer, or is no object, which Read reports later.
func (p *logParser) keys() (names []string, known bool) {
	object, err := objectOf(p.first)
	all := map[string]bool{}
	namesOf(object, "", all)
	return slices.Sorted(maps.Keys(all)), err == nil
}

func (p *logParser) choice() string {
	names := p.names
	if p.Format == "json" {
		names, _ = p.keys()
	}
	if len(names) == 0 {
		return ""
	}
	return "; the columns are " + shown(names)
}

// A file of another kind may have a million names, or a name of a million characters.
const (
	mostShown    = 100
	longestShown = 60
)

func shown(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), mostShown)] {
		quoted := strconv.Quote(shortened(name)) // a file of another kind has control characters
		list = append(list, quoted[1:len(quoted)-1])
	}
	if more := len(names) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// shortened returns as much of a text as an error shows.
func shortened(text string) string {
	if begin := fmt.Sprintf("%.*s", longestShown, text); len(begin) < len(text) {
		return begin + "..."
	}
	return text
}

// text returns the value of a row, in seconds if it is a number.
func (s *source) text(cells []string) string {
	text := strings.TrimSpace(cells[s.column])
	if v, err := strconv.ParseFloat(text, 64); err == nil && s.unit > 0 {
		return strconv.FormatFloat(mul(v, s.unit.Seconds()), 'g', -1, 64)
	}
	return text
}
