package edge

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/reply"
)

// unknownDrain replaces an unknown or shorter time to drain, because clients would otherwise
// come back at once. It is the first backoff in the examples of gRPC's retry policy (gRFC
// A6).
const unknownDrain = 100 * time.Millisecond

// RetryAfter returns how long the client of work that was not admitted should stay away. Clients
// that were refused together would come back together, so the time is spread at random over one to
// two times [weir.RefusedError].RetryAfter, and over 100 to 200 ms if that is below 100 ms or
// unknown.
//
// It returns false if the same work would be refused again at any later time, as with
// [weir.ReasonBadKey].
func RetryAfter(err error) (after time.Duration, again bool) {
	drain := time.Duration(0)
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		if refused.Reason == weir.ReasonBadKey {
			return 0, false
		}
		drain = refused.RetryAfter
	}
	return spread(drain, rand.Float64()), true
}

// spread returns 1+jitter times the time to drain, with jitter from 0 to 1.
func spread(drain time.Duration, jitter float64) time.Duration {
	after := float64(max(drain, unknownDrain)) * (1 + jitter)
	if after >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(after)
}

// HTTPStatus returns the status with which an HTTP server answers work that was refused for
// the reason: 400 for [weir.ReasonBadKey], and 503 otherwise. Answer 429 instead of 503 if
// the limit is a caller's own quota and not the server's capacity.
func HTTPStatus(r weir.Reason) int { return reply.Verdict(r).HTTP() }

// GRPCCode returns the code with which a gRPC server answers work that was refused for the reason:
// 3, INVALID_ARGUMENT, for [weir.ReasonBadKey]; 14, UNAVAILABLE, for [weir.ReasonClosed], because
// another server may take the call; and 8, RESOURCE_EXHAUSTED, otherwise, which clients do not
// retry by themselves.
//
//	status.Error(codes.Code(edge.GRPCCode(refused.Reason)), refused.Error())
func GRPCCode(r weir.Reason) uint32 { return reply.Verdict(r).GRPC() }

// IsExempt reports whether an admitter limits nothing: nil, or a nil *weir.Limiter, which a look-up
// in a map of limiters returns for a call that has no limiter.
func IsExempt(a weir.Admitter) bool {
	if lim, ok := a.(*weir.Limiter); ok {
		return lim == nil
	}
	return a == nil
}

// ContextOutcome returns the outcome of a call whose context has ended: [weir.Abandoned] if it was
// cancelled, because its caller left, and [weir.Timeout] after a deadline. The context must have
// ended.
func ContextOutcome(ctx context.Context) weir.Outcome {
	if ctx != nil && errors.Is(ctx.Err(), context.Canceled) {
		return weir.Abandoned
	}
	return weir.Timeout
}

// ErrorOutcome returns the outcome of a client's call that ended with an error: [weir.Overloaded]
// for a refusal by another limiter on the way, [ContextOutcome] if the context has ended, and
// otherwise the outcome of [weir.Classify]. The error must not be nil; a nil ctx counts as
// context.Background.
func ErrorOutcome(ctx context.Context, err error) weir.Outcome {
	if ctx != nil && ctx.Err() != nil && !errors.Is(err, weir.ErrRefused) {
		return ContextOutcome(ctx)
	}
	return weir.Classify(err)
}
