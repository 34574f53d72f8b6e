package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		{weir.ErrOverload, rpc.ResourceExhausted, time.Second, true, retry.Answer{Outcome: weir.Ignore, RetryAfter: time.Second}},
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

// TestOutcomes has a row for each code that gRPC defines.
func TestOutcomes(t *testing.T) {
	for code, want := range map[rpc.Code]struct{ server, client weir.Outcome }{
		0:   {weir.Success, weir.Success},     // OK
		1:   {weir.Abandoned, weir.Abandoned}, // CANCELLED
		2:   {weir.Failure, weir.Failure},     // UNKNOWN
		3:   {weir.Ignore, weir.Ignore},       // INVALID_ARGUMENT
		4:   {weir.Timeout, weir.Timeout},     // DEADLINE_EXCEEDED
		5:   {weir.Ignore, weir.Ignore},       // NOT_FOUND
		6:   {weir.Ignore, weir.Ignore},       // ALREADY_EXISTS
		7:   {weir.Ignore, weir.Ignore},       // PERMISSION_DENIED
		8:   {weir.Ignore, weir.Overloaded},   // RESOURCE_EXHAUSTED
		9:   {weir.Ignore, weir.Ignore},       // FAILED_PRECONDITION
		10:  {weir.Ignore, weir.Ignore},       // ABORTED
		11:  {weir.Ignore, weir.Ignore},       // OUT_OF_RANGE
		12:  {weir.Ignore, weir.Ignore},       // UNIMPLEMENTED
		13:  {weir.Failure, weir.Failure},     // INTERNAL
		14:  {weir.Failure, weir.Failure},     // UNAVAILABLE
		15:  {weir.Failure, weir.Failure},     // DATA_LOSS
		16:  {weir.Ignore, weir.Ignore},       // UNAUTHENTICATED
		17:  {weir.Failure, weir.Failure},     // not defined
		1e9: {weir.Failure, weir.Failure},
	} {
		if got := code.ServerOutcome(); got != want.server {
			t.Errorf("%d on a server: %v, want %v", code, got, want.server)
		}
		if got := code.ClientOutcome(false); got != want.client {
			t.Errorf("%d on a client: %v, want %v", code, got, want.client)
		}
		if got := code.ClientOutcome(true); (got == weir.Overloaded) != (code == 8 || code == 14) {
			t.Errorf("%d on a client that is told when to come back: %v", code, got)
		}
	}
}

// TestOutcomesOfContexts: a caller that left has no opinion, and a deadline that passed is a
// timeout, whatever the code.
func TestOutcomesOfContexts(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	for _, c := range []struct {
		ctx            context.Context //nolint:containedctx // a table of calls
		err            error
		server, client weir.Outcome
	}{
		{left, nil, weir.Abandoned, weir.Abandoned},
		{late, nil, weir.Timeout, weir.Timeout},
		{t.Context(), nil, weir.Failure, weir.Overloaded},
		{t.Context(), weir.ErrQueueFull, weir.Failure, weir.Overloaded},
		{t.Context(), io.EOF, weir.Failure, weir.Success},
	} {
		if got := rpc.OutcomeOnServer(c.ctx, rpc.Unavailable); got != c.server {
			t.Errorf("on a server: %v, want %v", got, c.server)
		}
		if got := rpc.OutcomeOnClient(c.ctx, c.err, rpc.Unavailable, true); got != c.client {
			t.Errorf("on a client, %v: %v, want %v", c.err, got, c.client)
		}
	}
}

func TestRefused(t *testing.T) {
	gone, leave := context.WithCancelCause(t.Context())
	leave(errors.New("why"))
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	refused := func(r weir.Reason) error {
		return fmt.Errorf("wrapped: %w", &weir.RefusedError{
			Limiter: "secret", Reason: r, RetryAfter: 1500 * time.Millisecond,
		})
	}
	for _, c := range []struct {
		ctx     context.Context //nolint:containedctx // a table of calls
		err     error
		code    rpc.Code
		message string
		least   time.Duration
	}{
		{
			t.Context(), refused(weir.ReasonQueueFull), rpc.ResourceExhausted, "refused: queue full",
			1500 * time.Millisecond,
		},
		{t.Context(), refused(weir.ReasonBadKey), rpc.InvalidArgument, "refused: bad key", 0},
		{t.Context(), refused(weir.ReasonClosed), rpc.Unavailable, "refused: closed", 0},
		{gone, context.Cause(gone), rpc.Canceled, "cancelled before it was admitted", 0},
		{late, context.Cause(late), rpc.DeadlineExceeded, "deadline exceeded before it was admitted", 0},
		{gone, refused(weir.ReasonQueueFull), rpc.ResourceExhausted, "refused: queue full", 1500 * time.Millisecond},
		{
			t.Context(), errors.New("of an admitter of somebody else's"), rpc.ResourceExhausted, "refused",
			100 * time.Millisecond,
		},
	} {
		got := rpc.Refused(c.ctx, c.err)
		if got.Code != c.code || got.Message != c.message {
			t.Errorf("%v: %+v", c.err, got)
		}
		if got.RetryAfter < c.least || got.RetryAfter > 2*c.least || got.RetryAfter%time.Millisecond != 0 {
			t.Errorf("%v: retry after %v, want %v to twice that, in milliseconds", c.err, got.RetryAfter, c.least)
		}
	}
}
