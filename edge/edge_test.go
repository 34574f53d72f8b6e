package edge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/must"
)

func TestRetryAfterIsSpread(t *testing.T) {
	for _, c := range []struct {
		drain, least, most time.Duration
	}{
		{0, 100 * time.Millisecond, 200 * time.Millisecond},
		{-time.Hour, 100 * time.Millisecond, 200 * time.Millisecond},
		{time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond},
		{time.Second, time.Second, 2 * time.Second},
		{30 * time.Second, 30 * time.Second, time.Minute},
		{1 << 62, 1 << 62, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		low, high := time.Duration(math.MaxInt64), time.Duration(0)
		for range 1000 {
			after, again := edge.RetryAfter(fmt.Errorf("wrapped: %w", &weir.RefusedError{
				Reason: weir.ReasonQueueFull, RetryAfter: c.drain,
			}))
			if !again {
				t.Fatalf("%v: never again", c.drain)
			}
			low, high = min(low, after), max(high, after)
		}
		width := c.most - c.least
		if low < c.least || high > c.most || low > c.least+width/10 || high < c.most-width/10 {
			t.Errorf("%v: %v to %v, want %v to %v", c.drain, low, high, c.least, c.most)
		}
	}
}

func TestRetryAfterOfOtherErrors(t *testing.T) {
	for _, err := range []error{nil, context.DeadlineExceeded, weir.ErrRefused, errors.New("odd")} {
		if after, again := edge.RetryAfter(err); !again || after < 100*time.Millisecond ||
			after > 200*time.Millisecond {
			t.Errorf("%v: %v, %v", err, after, again)
		}
	}
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	defer set.Close()
	_, bad := set.Acquire(t.Context(), strings.Repeat("x", 1000))
	if after, again := edge.RetryAfter(bad); bad == nil || again || after != 0 {
		t.Errorf("%v: %v, %v", bad, after, again)
	}
}

func TestEveryReasonHasAStatus(t *testing.T) {
	for _, r := range weir.Reasons() {
		http, grpc := 503, uint32(8)
		switch r {
		case weir.ReasonBadKey:
			http, grpc = 400, 3
		case weir.ReasonClosed:
			grpc = 14
		}
		if edge.HTTPStatus(r) != http || edge.GRPCCode(r) != grpc {
			t.Errorf("%v: %d and %d, want %d and %d", r, edge.HTTPStatus(r), edge.GRPCCode(r), http, grpc)
		}
	}
	for _, r := range []weir.Reason{0, 99, 255} { // none of ours
		if edge.HTTPStatus(r) != 503 || edge.GRPCCode(r) != 8 {
			t.Errorf("%v: %d and %d", r, edge.HTTPStatus(r), edge.GRPCCode(r))
		}
	}
}

func TestErrorOutcome(t *testing.T) {
	left, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("shut down"))
	late, stop := context.WithTimeout(t.Context(), -1)
	defer stop()
	contexts := map[string]context.Context{"going on": t.Context(), "left": left, "late": late}
	for _, c := range []struct {
		in   string
		err  error
		want weir.Outcome
	}{
		{"going on", errors.New("odd"), weir.Failure},
		{"going on", context.Canceled, weir.Abandoned},
		{"going on", weir.ErrQueueFull, weir.Overloaded},
		{"going on", os.ErrDeadlineExceeded, weir.Timeout},
		{"going on", &net.OpError{Err: os.ErrDeadlineExceeded}, weir.Timeout},
		{"going on", &net.OpError{Err: errors.New("reset")}, weir.Failure},
		{"left", errors.New("odd"), weir.Abandoned},
		{"late", errors.New("odd"), weir.Timeout},
		{"left", weir.ErrQueueFull, weir.Overloaded},
	} {
		if got := edge.ErrorOutcome(contexts[c.in], c.err); got != c.want {
			t.Errorf("%v, context %s: %v, want %v", c.err, c.in, got, c.want)
		}
	}
}

func TestExempt(t *testing.T) {
	if !edge.IsExempt(nil) || !edge.IsExempt((*weir.Limiter)(nil)) {
		t.Error("nil is not exempt")
	}
	if lim := weir.Must(weir.New(weir.Config{})); edge.IsExempt(lim) || edge.IsExempt((*bulkhead.Handle)(nil)) {
		t.Error("a limiter, or a handle that refuses all, is exempt")
	}
}
