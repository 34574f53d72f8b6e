package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
)

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
