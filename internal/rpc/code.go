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

// The codes, as https://grpc.io/docs/guides/status-codes lists them.
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

// outcomes has the outcome of each code for the limiter of a server, and for that of a
// client. They differ if a server asks one caller to send less: the server's limiter does not
// count that as its own failure, but the client's limiter must.
var outcomes = [...]struct{ server, client weir.Outcome }{
	OK:                 {weir.Success, weir.Success},
	Canceled:           {weir.Abandoned, weir.Abandoned},
	Unknown:            {weir.Failure, weir.Failure}, // the code of an error without one
	InvalidArgument:    {weir.Ignore, weir.Ignore},
	DeadlineExceeded:   {weir.Timeout, weir.Timeout},
	NotFound:           {weir.Ignore, weir.Ignore},
	AlreadyExists:      {weir.Ignore, weir.Ignore},
	PermissionDenied:   {weir.Ignore, weir.Ignore},
	ResourceExhausted:  {weir.Ignore, weir.Overloaded},
	FailedPrecondition: {weir.Ignore, weir.Ignore},
	Aborted:            {weir.Ignore, weir.Ignore},
	OutOfRange:         {weir.Ignore, weir.Ignore},
	Unimplemented:      {weir.Ignore, weir.Ignore},
	Internal:           {weir.Failure, weir.Failure},
	Unavailable:        {weir.Failure, weir.Failure},
	DataLoss:           {weir.Failure, weir.Failure},
	Unauthenticated:    {weir.Ignore, weir.Ignore},
}

// ServerOutcome returns the outcome of a call that a server answered with the code, for its
// limiter. A code that gRPC does not define counts as Unknown, as in gRPC itself.
func (c Code) ServerOutcome() weir.Outcome { return outcomes[c.defined()].server }

// ClientOutcome returns the outcome of a call that ended with the code, for the limiter of
// its client. A server that is unavailable and names a time to come back is overloaded.
func (c Code) ClientOutcome(comeBack bool) weir.Outcome {
	if c == Unavailable && comeBack {
		return weir.Overloaded
	}
	return outcomes[c.defined()].client
}

// OutcomeOnServer is ServerOutcome for a call that its handler has ended. A client that left
// teaches nothing, whatever became of its call.
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

func (c Code) defined() Code {
	if int(c) >= len(outcomes) {
		return Unknown
	}
	return c
}

// Answer classifies an attempt that ended with err and its code. A call that the server was
// too loaded for, or not there for, may be tried again after the given time if the server
// asks for it or the method may run twice.
func Answer(err error, code Code, after time.Duration, mayRepeat bool) retry.Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok { // by a limiter of this client
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: weir.Ignore, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch {
	case errors.Is(err, weir.ErrRefused): // likewise
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
