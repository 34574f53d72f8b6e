package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// A watchedOutput forwards a command's output and ends the command when a write fails.
type watchedOutput struct {
	io.Writer
	end context.CancelCauseFunc
}

// An outputError is the reason for the end of a command whose output cannot be written.
type outputError struct{ error }

func (o watchedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.end(outputError{err})
	}
	return n, err
}

// outcome returns err, the error of a command, or the error of its output instead. A reader that
// closed the pipe early, as head does, is no failure.
func outcome(ctx context.Context, err error) error {
	failed, unwritten := errors.AsType[outputError](context.Cause(ctx))
	switch {
	case !unwritten:
		return err
	case errors.Is(failed.error, syscall.EPIPE):
		return nil
	}
	return fmt.Errorf("the output is not complete: %w", failed.error)
}

// unwatched returns streams whose write errors do not end the command, for servers.
func (s streams) unwatched() streams {
	if watched, ok := s.out.(watchedOutput); ok {
		s.out = watched.Writer
	}
	return s
}

// fileOf returns the file behind an output, or nil if it is not a file.
func fileOf(out io.Writer) *os.File {
	file, _ := streams{out: out}.unwatched().out.(*os.File)
	return file
}
