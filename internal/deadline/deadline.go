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

// Of returns the deadline on the scale of package clock, 0 if there is none, or only a stranger's.
func Of(ctx context.Context) int64 {
	at, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	if _, strange := ctx.(stranger); strange {
		return 0
	}
	return clock.At(at)
}
