package pipe

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/weir-go/weir/fleet"
)

// A proxy and its companion run for months, with some calls a second.
func TestCallsThatEndLeaveNothing(t *testing.T) {
	s := &server{out: json.NewEncoder(io.Discard), calls: map[uint64]context.CancelFunc{}}
	ctx := s.begin(t.Context(), 1)
	s.end(1, nil)
	if ctx.Err() == nil || len(s.calls) > 0 {
		t.Errorf("at the server: %v, %d calls", ctx.Err(), len(s.calls))
	}
	user := New(nil, nil)
	if err := user.Write(ctx, fleet.Write{}); err == nil || len(user.calls) > 0 {
		t.Errorf("at the user: %v, %d calls", err, len(user.calls))
	}
}
