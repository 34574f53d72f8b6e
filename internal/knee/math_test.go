package knee

import (
	"math"
	"testing"
)

func TestGamma(t *testing.T) {
	for x := 0.0; x <= 2; x += 0.05 {
		if got, want := gamma(x), math.Gamma(1+x); math.Abs(got-want) > 1e-6 {
			t.Errorf("gamma(%v) = %v, want %v", x, got, want)
		}
	}
}
