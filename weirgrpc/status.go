package weirgrpc

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/retry"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// pushbackKey is the trailer with the wait that a server asks of a gRPC client, in milliseconds:
// gRFC A6.
const pushbackKey = "grpc-retry-pushback-ms"

// A refusal is the error for a call that was not admitted: a status to gRPC, and the error of the
// admitter to errors.Is and errors.As.
type refusal struct {
	status     *status.Status
	retryAfter time.Duration
	cause      error
}

func newRefusal(ctx context.Context, err error) *refusal {
	r := rpc.Refused(ctx, err)
	s := status.New(codes.Code(r.Code), r.Message)
	if r.RetryAfter > 0 {
		if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.RetryAfter)}); err == nil {
			s = detailed
		}
	}
	return &refusal{status: s, retryAfter: r.RetryAfter, cause: err}
}

func (r *refusal) Error() string { return r.cause.Error() }

func (r *refusal) Unwrap() error { return r.cause }

// GRPCStatus returns the status that gRPC sends. It does not name the limiter.
func (r *refusal) GRPCStatus() *status.Status { return r.status }

// pushback returns the trailer to send, or nil if the refusal has no delay.
func (r *refusal) pushback() metadata.MD {
	if r.retryAfter == 0 {
		return nil
	}
	return metadata.Pairs(pushbackKey, strconv.FormatInt(r.retryAfter.Milliseconds(), 10))
}

// RetryAfter returns how long a server asked this client to wait before it retries. The RetryInfo
// in the status of err has that time, as in a refusal. RetryAfter returns false if err has no
// RetryInfo, or a negative time.
func RetryAfter(err error) (time.Duration, bool) {
	s, _ := status.FromError(err) // without details if err is no status
	for _, detail := range s.Details() {
		if info, _ := detail.(*errdetails.RetryInfo); info.GetRetryDelay().IsValid() {
			delay := info.GetRetryDelay().AsDuration()
			return max(delay, 0), delay >= 0
		}
	}
	return 0, false
}

// comeBack is RetryAfter, but a pushback in the trailer replaces the RetryInfo of the status.
func comeBack(err error, trailer metadata.MD) (after time.Duration, told bool) {
	if err == nil {
		return 0, false
	}
	if values := trailer.Get(pushbackKey); len(values) > 0 {
		return rpc.Pushback(values)
	}
	return RetryAfter(err)
}

// Classify is for [retry.Config].Classify: it returns the meaning of a call's error for its server.
// A call is tried again if its status has RetryInfo, with which the server asks for a retry, as in
// a refusal. For calls that may run twice, clear Final. [RetryClient] also knows the trailer of a
// call, and whether its method is idempotent.
func Classify(err error) retry.Answer {
	after, told := RetryAfter(err)
	return rpc.Answer(err, codeOf(err), after, told)
}

// codeOf returns the code that gRPC sends for the error of a handler, or that a client sees.
func codeOf(err error) rpc.Code {
	if err == nil {
		return rpc.OK
	}
	if s, ok := status.FromError(err); ok {
		return rpc.Code(s.Code())
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return rpc.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return rpc.Canceled
	default:
		return rpc.Unknown
	}
}
