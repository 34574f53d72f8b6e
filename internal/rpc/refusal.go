package rpc

import (
	"context"
	"errors"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// A Refusal is the status for a call that was not admitted.
type Refusal struct {
	Code       Code
	Message    string        // the reason, without the limiter's name, because it goes to the caller
	RetryAfter time.Duration // in whole milliseconds; 0 to name no time to come back
}

// Refused returns the status for the error of an admitter that was asked under ctx. Only
// ResourceExhausted has a RetryAfter: if this server is closed, another one may take the call
// at once.
func Refused(ctx context.Context, err error) Refusal {
	r := Refusal{Code: ResourceExhausted, Message: "refused"}
	switch refused, ok := errors.AsType[*weir.RefusedError](err); {
	case ok:
		r.Code, r.Message = Code(edge.GRPCCode(refused.Reason)), "refused: "+refused.Reason.String()
	case errors.Is(ctx.Err(), context.Canceled):
		r.Code, r.Message = Canceled, "cancelled before it was admitted"
	case ctx.Err() != nil:
		r.Code, r.Message = DeadlineExceeded, "deadline exceeded before it was admitted"
	}
	if r.Code == ResourceExhausted {
		after, _ := edge.RetryAfter(err)
		r.RetryAfter = after.Round(time.Millisecond)
	}
	return r
}
