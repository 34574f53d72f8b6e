package rpc

import (
	"errors"
	"strconv"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/retry"
)

// Answer says what an attempt that ended with err and its code says of the downstream. A call that
// the server was too loaded for, or was not there for, is tried again if that may be: because the
// server asks for it, after the given time, or because the method may run twice.
func Answer(err error, code Code, after time.Duration, mayRepeat bool) retry.Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok { // by a limiter of this client
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: retry.Ignored, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch {
	case code == ResourceExhausted, code == Unavailable:
		return retry.Answer{Outcome: retry.Rejected, RetryAfter: after, Final: !mayRepeat}
	case code == DeadlineExceeded:
		return retry.Answer{Outcome: retry.Rejected, Final: true}
	case code == Canceled:
		return retry.Answer{Outcome: retry.Ignored, Final: true}
	case code.ClientOutcome(false) == weir.Failure:
		return retry.Answer{Outcome: retry.Failure, Final: true}
	default: // done, or the caller's mistake
		return retry.Answer{Outcome: retry.Success, Final: true}
	}
}

// Pushback reads what a server says in the trailer grpc-retry-pushback-ms (gRFC A6). What is not
// one number of milliseconds forbids a retry.
func Pushback(values []string) (after time.Duration, again bool) {
	if len(values) != 1 {
		return 0, false
	}
	ms, err := strconv.ParseUint(values[0], 10, 31)
	return time.Duration(ms) * time.Millisecond, err == nil
}
