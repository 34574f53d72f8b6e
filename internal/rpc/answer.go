package rpc

import (
	"errors"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/retry"
)

// Answer says what an attempt that ended with err and its code says of the downstream. after is the RetryInfo of the
// status, if it told one. Only with one is it known that the call did not run, so only then is it tried again.
func Answer(err error, code Code, after time.Duration, told bool) retry.Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok { // by a limiter of this client
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: retry.Ignored, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch {
	case code == ResourceExhausted, code == Unavailable:
		return retry.Answer{Outcome: retry.Rejected, RetryAfter: after, Final: !told}
	case code == DeadlineExceeded:
		return retry.Answer{Outcome: retry.Rejected, Final: true}
	case code == Canceled:
		return retry.Answer{Outcome: retry.Ignored, Final: true}
	case code.ClientOutcome() == weir.Failure:
		return retry.Answer{Outcome: retry.Failure, Final: true}
	default: // done, or the caller's mistake
		return retry.Answer{Outcome: retry.Success, Final: true}
	}
}
