package tracelog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Reader has the fields of sim.TraceReader, which documents them.
type Reader struct {
	Format   string
	Arrival  string
	Service  string
	Class    string
	Deadline string
	AtEnd    bool
}

// A Request has the fields of sim.Arrival.
type Request struct {
	At       time.Duration
	Work     time.Duration
	Class    string
	Deadline time.Duration
}

// A Fault makes the error for a field in a line of a file. The line is 0 for a field of the
// Reader.
type Fault func(file string, line int, field, problem string) error

// Read reads the requests of a log, and sorts them by arrival. It joins the errors, which name the
// file.
func (r Reader) Read(file string, in io.Reader, fault Fault) ([]Request, error) {
	p := &logParser{Reader: r, problems: problems{file: file, fault: fault}}
	if err := p.open(bufio.NewReaderSize(in, 1<<16)); err != nil {
		return nil, err
	}
	for {
		cells, line, problem, err := p.table()
		switch {
		case errors.Is(err, io.EOF):
			return p.trace()
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if p.rows++; p.rows == 1 && problem == "" && p.isHeading(cells) {
			continue
		}
		if problem == "" {
			problem = p.misfit(cells)
		}
		if p.rows == 1 && p.simple && (problem != "" || p.isForeign(cells)) {
			return nil, fault(file, line, "line", p.foreign())
		}
		if problem != "" {
			p.add(line, "line", problem)
			continue
		}
		p.request(cells, line)
	}
}
