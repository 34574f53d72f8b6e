package sim

import (
	"errors"
	"fmt"
)

// problems are what is wrong with a file. All are counted, and as many kept as one cares to read.
type problems struct {
	file  string
	list  []error
	count int
}

const mostProblems = 20

func (p *problems) add(line int, field, problem string) {
	if p.count++; p.count <= mostProblems {
		p.list = append(p.list, &FieldError{File: p.file, Line: line, Field: field, Problem: problem})
	}
}

// err is nil if there are none, and a single problem as it is.
func (p *problems) err() error {
	if p.count == 1 {
		return p.list[0]
	}
	if more := p.count - len(p.list); more > 0 {
		p.list = append(p.list, fmt.Errorf("%s: has %d more problems", p.file, more))
		p.count = len(p.list)
	}
	return errors.Join(p.list...)
}
