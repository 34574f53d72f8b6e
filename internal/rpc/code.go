package rpc

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/retry"
)

// A Code is a status code of gRPC. Connect has the same numbers.
type Code uint32

// The codes have the numbers of https://grpc.io/docs/guides/status-codes.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// ServerOutcome returns the outcome of a call that a server answered with the code, for its
// limiter. A code that gRPC does not define counts as Unknown, as in gRPC itself. An error without
// a code has the code Unknown.
func (c Code) ServerOutcome() weir.Outcome {
	switch c {
	case OK:
		return weir.Success
	case Canceled:
		return weir.Abandoned
	case DeadlineExceeded:
		return weir.Timeout
	case InvalidArgument, NotFound, AlreadyExists, PermissionDenied, ResourceExhausted, FailedPrecondition,
		Aborted, OutOfRange, Unimplemented, Unauthenticated:
		return weir.Ignore
	default: // Unknown, Internal, Unavailable, DataLoss
		return weir.Failure
	}
}

// ClientOutcome returns the outcome of a call that ended with the code, for the limiter of its
// client. A server that asks one caller to send less has not failed, but the limiter of that caller
// has to count an overload. A server that is unavailable and names a time to come back is
// overloaded.
func (c Code) ClientOutcome(comeBack bool) weir.Outcome {
	if c == ResourceExhausted || c == Unavailable && comeBack {
		return weir.Overloaded
	}
	return c.ServerOutcome()
}

// OutcomeOnServer is ServerOutcome for a call that its handler has ended. If its client has left,
// the call is abandoned, whatever its code, and after its deadline it is a timeout.
func OutcomeOnServer(ctx context.Context, c Code) weir.Outcome {
	if ctx.Err() != nil {
		return edge.ContextOutcome(ctx)
	}
	return c.ServerOutcome()
}

// OutcomeOnClient is ClientOutcome for a call that ended with err and its code. A stream that
// succeeded ends with io.EOF.
func OutcomeOnClient(ctx context.Context, err error, c Code, comeBack bool) weir.Outcome {
	switch {
	case ctx.Err() != nil:
		return edge.ContextOutcome(ctx)
	case errors.Is(err, weir.ErrRefused): // by another limiter of this client
		return weir.Overloaded
	case errors.Is(err, io.EOF):
		return weir.Success
	}
	return c.ClientOutcome(comeBack)
}

// Answer classifies an attempt that ended with err and its code. A call that found the server
// overloaded or unavailable may be tried again after the given time if mayRepeat is set: the server
// asks for a retry, or the method may run twice.
func Answer(err error, code Code, after time.Duration, mayRepeat bool) retry.Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok { // by a limiter of this client
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: weir.Ignore, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch {
	case errors.Is(err, weir.ErrRefused): // by another admitter of this client
		return retry.Answer{Outcome: weir.Ignore, RetryAfter: after}
	case code == ResourceExhausted, code == Unavailable:
		return retry.Answer{Outcome: weir.Overloaded, RetryAfter: after, Final: !mayRepeat}
	case code == DeadlineExceeded:
		return retry.Answer{Outcome: weir.Timeout, Final: true}
	case code == Canceled:
		return retry.Answer{Outcome: weir.Ignore, Final: true}
	case code.ClientOutcome(false) == weir.Failure:
		return retry.Answer{Outcome: weir.Failure, Final: true}
	default: // done, or the caller's mistake
		return retry.Answer{Outcome: weir.Success, Final: true}
	}
}

// Pushback reads the trailer grpc-retry-pushback-ms of a server (gRFC A6). Any value but one
// number of milliseconds forbids a retry.
func Pushback(values []string) (after time.Duration, again bool) {
	if len(values) != 1 {
		return 0, false
	}
	ms, err := strconv.ParseUint(values[0], 10, 31)
	return time.Duration(ms) * time.Millisecond, err == nil
}

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
