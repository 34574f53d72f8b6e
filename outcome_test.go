package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weir-go/weir"
)

// The law does not learn from a cancellation with a cause of the caller's own.
func TestCancelCauseTeachesNothing(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	gone := errors.New("client gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	_ = l.Do(ctx, func(ctx context.Context) error {
		cancel(gone)
		return context.Cause(ctx)
	})
	if s := l.Snapshot(); s.Failed != 0 || s.Ignored != 1 {
		t.Errorf("%d failed, %d ignored", s.Failed, s.Ignored)
	}
}

// A Classify of the caller's own gets the error that the work returned.
func TestClassifySeesTheErrorOfTheWork(t *testing.T) {
	var seen error
	l := newLimiter(t, weir.Config{Classify: func(err error) weir.Outcome {
		seen = err
		return weir.Success
	}})
	ctx, cancel := context.WithCancel(t.Context())
	returned := fmt.Errorf("partial answer: %w", context.Canceled)
	_ = l.Do(ctx, func(context.Context) error {
		cancel()
		return returned
	})
	if seen != returned {
		t.Errorf("Classify was shown %q: want %q", seen, returned)
	}
}
