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

// A watchedOutput forwards a command's output and ends the command when a write fails.
type watchedOutput struct {
	io.Writer
	end context.CancelCauseFunc

	mu  sync.Mutex
	err error // the first write error
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

// outcome returns the error of a command that returned err. A reader that closed the pipe
// early, as head does, is no failure.
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

// unwatched returns streams whose write errors do not end the command, for servers.
func (s streams) unwatched() streams {
	if watched, ok := s.out.(*watchedOutput); ok {
		s.out = watched.Writer
	}
	return s
}

// fileOf returns the file behind an output, or nil if it is not a file.
func fileOf(out io.Writer) *os.File {
	file, _ := streams{out: out}.unwatched().out.(*os.File)
	return file
}
