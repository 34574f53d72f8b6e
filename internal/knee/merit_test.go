package knee

import (
	"math"
	"testing"
)

// A pool of 40: the best N is at its knee, where the elasticity passes the price.
func TestMeritPeaksAtTheKnee(t *testing.T) {
	_, b := learned(func(n float64) float64 { return 1000 * min(1, n/40) }, 10, 20, 40, 60, 100)
	var j Merit
	if n := j.Weigh(b, 0.1, 0, 1); n < 35 || n > 65 {
		t.Errorf("best %.1f, want about 40 to 60", n)
	}
	if e := b.Elasticity(math.Log(10)); e.Mean < 0.9 {
		t.Errorf("elasticity %.2f far below the knee, want about 1", e.Mean)
	}
	if e := b.Elasticity(math.Log(100)); e.Mean > 0.1 {
		t.Errorf("elasticity %.2f far above the knee, want about 0", e.Mean)
	}
	// With 40 ms of work and a deadline at 60 ms, a queue of half a pool is too long.
	if free, bound := j.Weigh(b, 0.1, 0, 3), j.Weigh(b, 0.1, 0.060, 3); bound >= free || bound < 10 {
		t.Errorf("best %.1f with a budget and %.1f without", bound, free)
	}
	// A deadline that no limit can keep changes nothing.
	if free, bound := j.Weigh(b, 0.1, 0, 3), j.Weigh(b, 0.1, 0.001, 3); bound < free/2 {
		t.Errorf("best %.1f with an impossible budget and %.1f without", bound, free)
	}
}
