package weirconnect

import (
	"context"
	"errors"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/retry"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
)

// pushbackKey is the trailer with the wait that a server asks of a gRPC client, in milliseconds:
// gRFC A6.
const pushbackKey = "Grpc-Retry-Pushback-Ms"

// A reason is the message of a refusal to the caller, and the error of the admitter to errors.Is
// and errors.As.
type reason struct {
	message string
	cause   error
}

func (r *reason) Error() string { return r.message }

func (r *reason) Unwrap() error { return r.cause }

// refusal returns the error for a call that was not admitted. It adds the trailer, unless the
// protocol is Connect's own.
func refusal(ctx context.Context, err error, protocol string) *connect.Error {
	r := rpc.Refused(ctx, err)
	refused := connect.NewError(connect.Code(r.Code), &reason{r.Message, err})
	if r.RetryAfter == 0 {
		return refused
	}
	if detail, err := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.RetryAfter)}); err == nil {
		refused.AddDetail(detail)
	}
	if protocol != connect.ProtocolConnect {
		refused.Meta().Set(pushbackKey, strconv.FormatInt(r.RetryAfter.Milliseconds(), 10))
	}
	return refused
}

// RetryAfter returns how long a server asked this client to wait before it retries. The RetryInfo
// among the details of err has that time, as in a refusal. RetryAfter returns false if err has no
// RetryInfo, or a negative time.
func RetryAfter(err error) (time.Duration, bool) {
	refused, _ := errors.AsType[*connect.Error](err)
	if refused == nil {
		return 0, false
	}
	for _, detail := range refused.Details() {
		value, _ := detail.Value()
		if info, _ := value.(*errdetails.RetryInfo); info.GetRetryDelay().IsValid() {
			delay := info.GetRetryDelay().AsDuration()
			return max(delay, 0), delay >= 0
		}
	}
	return 0, false
}

// comeBack is RetryAfter, but a pushback in the trailer replaces the RetryInfo of the status.
func comeBack(err error) (after time.Duration, told bool) {
	if values := pushback(err); len(values) > 0 {
		return rpc.Pushback(values)
	}
	return RetryAfter(err)
}

// pushback returns the values of the pushback trailer of a call that failed, if there are any.
func pushback(err error) []string {
	failed, _ := errors.AsType[*connect.Error](err)
	if failed == nil {
		return nil
	}
	return failed.Meta().Values(pushbackKey)
}

// Classify is for [retry.Config].Classify: it returns the meaning of a call's error for its server.
// A call is tried again if its status has RetryInfo, with which the server asks for a retry, as in
// a refusal. For calls that may run twice, clear Final. [RetryClient] also knows the trailer of a
// call, and whether its procedure is idempotent.
func Classify(err error) retry.Answer {
	after, told := RetryAfter(err)
	return rpc.Answer(err, codeOf(err), after, told)
}

// codeOf returns the code that Connect sends for the error of a handler, or that a client sees.
func codeOf(err error) rpc.Code {
	switch {
	case err == nil, connect.IsNotModifiedError(err):
		return rpc.OK
	case connect.CodeOf(err) != connect.CodeUnknown:
		return rpc.Code(connect.CodeOf(err))
	case errors.Is(err, context.DeadlineExceeded):
		return rpc.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return rpc.Canceled
	default:
		return rpc.Unknown
	}
}
