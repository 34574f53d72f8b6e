package rpc_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
)

// TestOutcomes has a row for each code that gRPC defines.
func TestOutcomes(t *testing.T) {
	for code, want := range map[rpc.Code]struct{ server, client weir.Outcome }{
		0:   {weir.Success, weir.Success},   // OK
		1:   {weir.Ignore, weir.Ignore},     // CANCELLED
		2:   {weir.Failure, weir.Failure},   // UNKNOWN
		3:   {weir.Ignore, weir.Ignore},     // INVALID_ARGUMENT
		4:   {weir.Timeout, weir.Timeout},   // DEADLINE_EXCEEDED
		5:   {weir.Ignore, weir.Ignore},     // NOT_FOUND
		6:   {weir.Ignore, weir.Ignore},     // ALREADY_EXISTS
		7:   {weir.Ignore, weir.Ignore},     // PERMISSION_DENIED
		8:   {weir.Ignore, weir.Overloaded}, // RESOURCE_EXHAUSTED
		9:   {weir.Ignore, weir.Ignore},     // FAILED_PRECONDITION
		10:  {weir.Ignore, weir.Ignore},     // ABORTED
		11:  {weir.Ignore, weir.Ignore},     // OUT_OF_RANGE
		12:  {weir.Ignore, weir.Ignore},     // UNIMPLEMENTED
		13:  {weir.Failure, weir.Failure},   // INTERNAL
		14:  {weir.Failure, weir.Failure},   // UNAVAILABLE
		15:  {weir.Failure, weir.Failure},   // DATA_LOSS
		16:  {weir.Ignore, weir.Ignore},     // UNAUTHENTICATED
		17:  {weir.Failure, weir.Failure},   // not defined
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
