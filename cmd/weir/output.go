package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// A watchedOutput passes on what a command prints, and ends the command once that fails.
type watchedOutput struct {
	io.Writer
	end context.CancelCauseFunc

	mu  sync.Mutex
	err error // the first
}

func (o *watchedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
		o.end(err)
	}
	return n, err
}

// outcome returns how the command ended that ended with err. A reader that has seen enough, as head
// has, is no failure.
func (o *watchedOutput) outcome(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == nil:
		return err
	case errors.Is(o.err, syscall.EPIPE):
		return nil
	}
	return fmt.Errorf("the output is not complete: %w", o.err)
}

// unwatched has a command go on that cannot write its output, as a server must.
func (s streams) unwatched() streams {
	if watched, ok := s.out.(*watchedOutput); ok {
		s.out = watched.Writer
	}
	return s
}

// fileOf returns the file that an output is, nil if it is none.
func fileOf(out io.Writer) *os.File {
	file, _ := streams{out: out}.unwatched().out.(*os.File)
	return file
}
