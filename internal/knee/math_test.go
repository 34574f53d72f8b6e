package knee

import (
	"math"
	"testing"

	"github.com/weir-go/weir/internal/portable"
)

func TestOwnFunctions(t *testing.T) {
	for x := 0.0; x <= 2; x += 0.05 {
		if got, want := gamma(x), math.Gamma(1+x); math.Abs(got-want) > 1e-6 {
			t.Errorf("gamma(%v) = %v, want %v", x, got, want)
		}
	}
	if got := portable.Exp(leastScore); math.Abs(got-ruledOut) > 1e-15 {
		t.Errorf("e^%v = %v, want %v", leastScore, got, ruledOut)
	}
}
