package weir

import (
	"context"
	"errors"
)

// An Outcome is what finished work says about its downstream.
type Outcome uint8

const (
	// Success counts, and its latency is measured.
	Success Outcome = 0
	// Failure counts in the error rate; its latency says nothing about load.
	Failure Outcome = 1
	// Timeout counts in the error and the timeout rate.
	Timeout Outcome = 2
	// Ignore tells the law nothing.
	Ignore Outcome = 3
)

// Classify is the default of [Config].Classify: nil is a Success, a refusal by another limiter is a
// Failure, a cancellation by the caller is to be ignored, a deadline exceeded is a Timeout, and any
// other error is a Failure.
func Classify(err error) Outcome {
	switch {
	case err == nil:
		return Success
	case errors.Is(err, ErrRefused): // before the deadline, which a refusal may match too
		return Failure
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrExecutionTimeout):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Ignore
	default:
		return Failure
	}
}
