package law

import (
	"math"
	"testing"
)

func TestOwnFunctions(t *testing.T) {
	near := func(name string, x, got, want, tolerance float64) {
		if math.Abs(got-want) > tolerance*max(1, math.Abs(want)) {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for x := 0.0; x <= 2; x += 0.05 {
		near("gamma", x, gamma(x), math.Gamma(1+x), 1e-6)
	}
	near("exp", math.Inf(-1), exp(math.Inf(-1)), 0, 1e-300)
	near("exp", leastScore, exp(leastScore), ruledOut, 1e-15)
	if x := exp(math.Inf(1)); math.IsInf(x, 0) || x < 1e300 {
		t.Errorf("exp(∞) = %v", x)
	}
}
