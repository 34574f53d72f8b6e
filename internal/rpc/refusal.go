package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/weir-go/weir"
)

// A Refusal is the status that tells a caller that its call was not admitted.
type Refusal struct {
	Code       Code
	Message    string        // says why, and not by which limiter, for it goes to the caller
	RetryAfter time.Duration // jittered; 0 if the caller is not told when to come back
}

// Refused returns the status for the error of an admitter, asked under ctx.
func Refused(ctx context.Context, err error) Refusal {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		return refusal(refused)
	}
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.Canceled):
		return Refusal{Code: Canceled, Message: "cancelled before it was admitted"}
	case cause != nil:
		return Refusal{Code: DeadlineExceeded, Message: "deadline exceeded before it was admitted"}
	default: // an admitter of somebody else's
		return Refusal{Code: ResourceExhausted, Message: "refused", RetryAfter: retryAfter(0, rand.Float64())}
	}
}

// refusal tells a caller to come back only where this server will then have room. What is closed or
// stands behind an open breaker is Unavailable, for another server may take it at once, and clients and balancers
// go there by that code. What would have run into its deadline has no time to come back in.
func refusal(refused *weir.RefusedError) Refusal {
	r := Refusal{Message: "refused: " + refused.Reason.String()}
	switch refused.Reason {
	case weir.ReasonBadKey:
		r.Code = InvalidArgument
	case weir.ReasonClosed, weir.ReasonBreakerOpen:
		r.Code = Unavailable
	case weir.ReasonDeadline:
		r.Code = DeadlineExceeded
	default:
		r.Code, r.RetryAfter = ResourceExhausted, retryAfter(refused.RetryAfter, rand.Float64())
	}
	return r
}

// soonest is the least time to come back after, for a limiter that does not know yet how long it needs.
const soonest = 100 * time.Millisecond

// retryAfter returns whole milliseconds. Clients that were refused together would come back together: jitter, from 0 to
// 1, spreads them over one to two times the time to drain.
func retryAfter(drain time.Duration, jitter float64) time.Duration {
	spread := float64(max(drain, soonest)) * (1 + jitter)
	return time.Duration(spread).Round(time.Millisecond)
}
