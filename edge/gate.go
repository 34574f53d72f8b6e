package edge

import (
	"context"

	"github.com/weir-go/weir"
)

// A Gate admits calls: a [weir.Admitter], such as a [*weir.Limiter], or anything
// else that hands out permits. Acquire must be safe for concurrent use.
type Gate interface {
	// Acquire waits for a slot. Its error is a refusal if it matches
	// [weir.ErrRefused]; otherwise the context ended while it waited.
	Acquire(ctx context.Context) (weir.Permit, error)
}

// IsExempt reports whether a gate limits nothing: nil, or a nil *weir.Limiter, which a look-up in a
// map of limiters returns for a call that has none.
func IsExempt(gate Gate) bool {
	if lim, ok := gate.(*weir.Limiter); ok {
		return lim == nil
	}
	return gate == nil
}
