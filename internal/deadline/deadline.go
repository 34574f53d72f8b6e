package deadline

import (
	"context"

	"github.com/weir-go/weir/internal/clock"
)

// Stranger returns a context whose deadline ends work and waits as before, but teaches nothing: by
// deadlines of their own, strangers could lower the limit for others.
func Stranger(ctx context.Context) context.Context {
	if _, ok := ctx.Deadline(); ok {
		return stranger{ctx}
	}
	return ctx
}

type stranger struct {
	context.Context //nolint:containedctx // it is one
}

// strange is the key by which contexts that derive from a stranger's are known.
type strange struct{}

// Value implements [context.Context].
func (s stranger) Value(key any) any {
	if key == (strange{}) {
		return true
	}
	return s.Context.Value(key)
}

// Of returns the deadline on the scale of package clock, 0 if there is none, or only a stranger's.
func Of(ctx context.Context) int64 {
	at, ok := ctx.Deadline()
	if !ok || ctx.Value(strange{}) != nil {
		return 0
	}
	return clock.At(at)
}
