package edge

import "github.com/weir-go/weir"

// IsExempt reports whether an admitter limits nothing: nil, or a nil *weir.Limiter, which a look-up
// in a map of limiters returns for a call that has none.
func IsExempt(a weir.Admitter) bool {
	if lim, ok := a.(*weir.Limiter); ok {
		return lim == nil
	}
	return a == nil
}
