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
		again bool // may it repeat
		want  retry.Answer
	}{
		{nil, rpc.OK, 0, false, retry.Answer{Outcome: weir.Success, Final: true}},
		{theirs, rpc.NotFound, 0, false, retry.Answer{Outcome: weir.Success, Final: true}},
		{theirs, rpc.ResourceExhausted, time.Second, true, retry.Answer{
			Outcome: weir.Overloaded, RetryAfter: time.Second,
		}},
		{theirs, rpc.ResourceExhausted, 0, false, retry.Answer{Outcome: weir.Overloaded, Final: true}},
		{theirs, rpc.Unavailable, time.Second, true, retry.Answer{Outcome: weir.Overloaded, RetryAfter: time.Second}},
		{theirs, rpc.Unavailable, 0, false, retry.Answer{Outcome: weir.Overloaded, Final: true}},
		{theirs, rpc.Unavailable, 0, true, retry.Answer{Outcome: weir.Overloaded}},
		{theirs, rpc.Internal, time.Second, true, retry.Answer{Outcome: weir.Failure, Final: true}},
		{theirs, rpc.DeadlineExceeded, time.Second, true, retry.Answer{Outcome: weir.Timeout, Final: true}},
		{theirs, rpc.Canceled, 0, false, retry.Answer{Outcome: weir.Ignore, Final: true}},
		{theirs, rpc.Internal, 0, false, retry.Answer{Outcome: weir.Failure, Final: true}},
		{
			&weir.RefusedError{Reason: weir.ReasonQueueFull, RetryAfter: time.Second}, rpc.ResourceExhausted,
			2 * time.Second, true,
			retry.Answer{Outcome: weir.Ignore, RetryAfter: time.Second},
		},
		{&weir.RefusedError{Reason: weir.ReasonBadKey}, rpc.InvalidArgument, 0, false, retry.Answer{
			Outcome: weir.Ignore, Final: true,
		}},
	} {
		if got := rpc.Answer(c.err, c.code, c.after, c.again); got != c.want {
			t.Errorf("%v, code %d: %+v, want %+v", c.err, c.code, got, c.want)
		}
	}
}

func TestPushback(t *testing.T) {
	for _, c := range []struct {
		values []string
		after  time.Duration
		again  bool
	}{
		{[]string{"1500"}, 1500 * time.Millisecond, true},
		{[]string{"0"}, 0, true},
		{[]string{"-1"}, 0, false},
		{[]string{"+1"}, 0, false},
		{[]string{""}, 0, false},
		{[]string{"1.5"}, 0, false},
		{[]string{"soon"}, 0, false},
		{[]string{"1", "1"}, 0, false},
		{nil, 0, false},
	} {
		if after, again := rpc.Pushback(c.values); after != c.after || again != c.again {
			t.Errorf("%q: %v, %v", c.values, after, again)
		}
	}
	if _, again := rpc.Pushback([]string{"99999999999999999999"}); again {
		t.Error("a number that there cannot be")
	}
}
