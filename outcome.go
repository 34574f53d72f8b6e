package weir

import (
	"context"
	"errors"

	"github.com/weir-go/weir/internal/window"
)

// An Outcome is the result of finished work, as it concerns its downstream.
type Outcome uint8

const (
	// Success counts, and its latency is measured.
	Success Outcome = 0
	// Failure counts in the error rate; its latency says nothing about load.
	Failure Outcome = 1
	// Timeout counts in the error and the timeout rate.
	Timeout Outcome = 2
	// Ignore is not counted by the law.
	Ignore Outcome = 3
	// Overloaded is work that the downstream refused because of its load: a 429 or 503, a
	// RESOURCE_EXHAUSTED, a refusal by another limiter. It counts in neither rate. A law lowers the
	// limit by the share of such work, and a breaker counts it as a failure.
	Overloaded Outcome = 4
	// Late is a Success whose caller had left before, such as a response that no client waits
	// for. Its latency is measured. A law lowers the limit by its share, as with Overloaded.
	Late Outcome = 5
	// Abandoned is work whose caller left before it ended, so that its latency is unknown. It
	// counts in neither rate. A law may lower the limit if hardly any other work ends.
	// [Snapshot].Ignored includes it.
	Abandoned Outcome = 6
)

// String returns the outcome in lower case, as metrics have it.
func (o Outcome) String() string {
	return [...]string{"success", "failure", "timeout", "ignored", "overloaded", "late", "abandoned"}[o.known()]
}

// Classify is the default of [Config].Classify. A nil error is a Success, a refusal by another
// limiter is Overloaded, and a cancellation by the caller is Abandoned. A deadline exceeded, or
// another error that is a timeout, as of a [net.Conn], is a Timeout. Any other error is a Failure.
func Classify(err error) Outcome {
	switch {
	case err == nil:
		return Success
	case errors.Is(err, ErrRefused): // before the deadline, which a refusal may match too
		return Overloaded
	case isTimeout(err):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Abandoned
	default:
		return Failure
	}
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrExecutionTimeout) {
		return true
	}
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

// known returns an outcome that the limiter knows. An outcome out of range becomes Ignore.
func (o Outcome) known() window.Outcome {
	if o > Abandoned {
		o = Ignore
	}
	return window.Outcome(o)
}
