package rpc_test

import (
	"context"
	"io"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
)

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
