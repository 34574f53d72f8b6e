package deadline

import (
	"context"

	"github.com/weir-go/weir/internal/clock"
)

// Stranger returns a context whose deadline ends work and waits as before, but does not teach a
// limiter. Otherwise strangers could lower the limit for others with their own deadlines.
func Stranger(ctx context.Context) context.Context {
	if _, ok := ctx.Deadline(); ok {
		return stranger{ctx}
	}
	return ctx
}

type stranger struct {
	context.Context //nolint:containedctx // it is one
}

// strange is the key of a value that a context has if it derives from a stranger.
type strange struct{}

// Value implements [context.Context].
func (s stranger) Value(key any) any {
	if key == (strange{}) {
		return true
	}
	return s.Context.Value(key)
}

// Of returns the deadline on the scale of package clock. It is 0 if ctx has no deadline, or derives
// from a stranger.
func Of(ctx context.Context) int64 {
	at, ok := ctx.Deadline()
	if !ok || ctx.Value(strange{}) != nil {
		return 0
	}
	return clock.At(at)
}
