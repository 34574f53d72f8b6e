package edge

import (
	"context"
	"errors"
	"net"

	"github.com/weir-go/weir"
)

// ContextOutcome returns the outcome of a call whose context has ended: a cancellation means
// that the caller left, and a deadline is a timeout. The context must have
// ended.
func ContextOutcome(ctx context.Context) weir.Outcome {
	if ctx != nil && errors.Is(ctx.Err(), context.Canceled) {
		return weir.Abandoned
	}
	return weir.Timeout
}

// ErrorOutcome returns the outcome of a client's call that ended with an error:
// [ContextOutcome] if the context has ended, [weir.Abandoned] for a cancellation, an overload
// for a refusal by another limiter on the way, a timeout for a [net.Error] that is one, and
// otherwise a failure. The error must not be nil; a nil ctx counts as context.Background.
func ErrorOutcome(ctx context.Context, err error) weir.Outcome {
	if ctx != nil && ctx.Err() != nil {
		return ContextOutcome(ctx)
	}
	switch {
	case errors.Is(err, weir.ErrRefused):
		return weir.Overloaded
	case errors.Is(err, context.Canceled):
		return weir.Abandoned
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return weir.Timeout
	}
	return weir.Failure
}
