package rpc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/retry"
)

func TestAnswer(t *testing.T) {
	theirs := errors.New("of the server")
	for _, c := range []struct {
		err   error
		code  rpc.Code
		after time.Duration
		told  bool
		want  retry.Answer
	}{
		{nil, rpc.OK, 0, false, retry.Answer{Outcome: retry.Success, Final: true}},
		{theirs, rpc.NotFound, 0, false, retry.Answer{Outcome: retry.Success, Final: true}},
		{theirs, rpc.ResourceExhausted, time.Second, true, retry.Answer{Outcome: retry.Rejected, RetryAfter: time.Second}},
		{theirs, rpc.ResourceExhausted, 0, false, retry.Answer{Outcome: retry.Rejected, Final: true}},
		{theirs, rpc.Unavailable, time.Second, true, retry.Answer{Outcome: retry.Rejected, RetryAfter: time.Second}},
		{theirs, rpc.Unavailable, 0, false, retry.Answer{Outcome: retry.Rejected, Final: true}},
		{theirs, rpc.DeadlineExceeded, time.Second, true, retry.Answer{Outcome: retry.Rejected, Final: true}},
		{theirs, rpc.Canceled, 0, false, retry.Answer{Outcome: retry.Ignored, Final: true}},
		{theirs, rpc.Internal, 0, false, retry.Answer{Outcome: retry.Failure, Final: true}},
		{
			&weir.RefusedError{Reason: weir.ReasonQueueFull, RetryAfter: time.Second}, rpc.ResourceExhausted, 2 * time.Second, true,
			retry.Answer{Outcome: retry.Ignored, RetryAfter: time.Second},
		},
		{&weir.RefusedError{Reason: weir.ReasonBadKey}, rpc.InvalidArgument, 0, false, retry.Answer{Outcome: retry.Ignored, Final: true}},
	} {
		if got := rpc.Answer(c.err, c.code, c.after, c.told); got != c.want {
			t.Errorf("%v, code %d: %+v, want %+v", c.err, c.code, got, c.want)
		}
	}
}
