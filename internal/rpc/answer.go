package rpc

import (
	"errors"
	"strconv"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/retry"
)

// Answer classifies an attempt that ended with err and its code. A call that the server was
// too loaded for, or not there for, may be tried again after the given time if the server
// asks for it or the method may run twice.
func Answer(err error, code Code, after time.Duration, mayRepeat bool) retry.Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok { // by a limiter of this client
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: weir.Ignore, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch {
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
