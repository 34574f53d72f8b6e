package tracelog

import (
	"errors"
	"fmt"
	"strings"
)

// problems collects the errors of a file. All are counted, and as many kept as a user would
// read. A problem of many lines is one.
type problems struct {
	file   string
	fault  Fault
	list   []*problem
	count  int
	others int // beyond the list
}

type problem struct {
	line        int // the first one
	field, text string
	count       int
	more        []string // lines after the first
}

const (
	mostProblems = 20
	mostLines    = 5
)

func (p *problems) add(line int, field, text string) {
	p.count++
	for _, known := range p.list {
		if known.field == field && known.text == text {
			known.add(line)
			return
		}
	}
	if len(p.list) == mostProblems {
		p.others++
		return
	}
	p.list = append(p.list, &problem{line: line, field: field, text: text, count: 1})
}

func (p *problem) add(line int) {
	p.count++
	if len(p.more) < mostLines {
		p.more = append(p.more, fmt.Sprint(line))
	}
}

// String returns the problem, and the other lines that have it.
func (p *problem) String() string {
	switch more := p.count - 1; {
	case more == 1:
		return fmt.Sprintf("%s (also in line %s)", p.text, p.more[0])
	case more == len(p.more) && more > 0:
		return fmt.Sprintf("%s (also in lines %s)", p.text, strings.Join(p.more, ", "))
	case more > 0:
		return fmt.Sprintf("%s (also in %d more lines, such as %s)", p.text, more, strings.Join(p.more, ", "))
	}
	return p.text
}

// err returns nil without problems, and a single problem as it is.
func (p *problems) err() error {
	var all []error
	for _, problem := range p.list {
		all = append(all, p.fault(p.file, problem.line, problem.field, problem.String()))
	}
	if p.others > 0 {
		all = append(all, fmt.Errorf("%s: has %d more problems", p.file, p.others))
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
