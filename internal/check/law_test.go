package check

import (
	"testing"

	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// Whatever a law answers, also infinities and NaN, the limit that is applied
// lies within the bounds.
func TestClampedLimitIsWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(1, 1000).Draw(t, "min")
		bounds := law.Bounds{Min: low, Max: rapid.IntRange(low, 2000).Draw(t, "max")}
		limit := rapid.Float64().Draw(t, "limit")
		fallback := rapid.Int().Draw(t, "fallback")

		if got := bounds.Clamp(limit, fallback); got < bounds.Min || got > bounds.Max {
			t.Fatalf("Clamp(%v, %d) = %d, want %d to %d", limit, fallback, got, bounds.Min, bounds.Max)
		}
	})
}
