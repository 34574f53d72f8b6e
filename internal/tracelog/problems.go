package tracelog

import (
	"errors"
	"fmt"
)

// problems collects the errors of a file. It counts all errors, and keeps as many as a user would
// read. It keeps the same error in many lines once.
type problems struct {
	file   string
	fault  Fault
	list   []*problem
	count  int
	others int // problems beyond the list
}

type problem struct {
	line        int // the first line with the problem
	field, text string
	count       int
}

const mostProblems = 20

func (p *problems) add(line int, field, text string) {
	p.count++
	for _, known := range p.list {
		if known.field == field && known.text == text {
			known.count++
			return
		}
	}
	if len(p.list) == mostProblems {
		p.others++
		return
	}
	p.list = append(p.list, &problem{line, field, text, 1})
}

// String returns the problem, and the number of other lines that have it.
func (p *problem) String() string {
	switch p.count {
	case 1:
		return p.text
	case 2:
		return p.text + " (also in another line)"
	}
	return fmt.Sprintf("%s (also in %d more lines)", p.text, p.count-1)
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
