package throttle_test

import (
	"testing"

	"github.com/weir-go/weir/throttle"
)

func TestAllocations(t *testing.T) {
	th := throttled(t, throttle.Config{})
	for _, cost := range []int{1, 7} {
		operation := func() {
			op, err := th.Acquire(t.Context(), throttle.Write, cost)
			defer op.DoneWith(&err)
		}
		for range 1000 {
			operation()
		}
		if got := testing.AllocsPerRun(1000, operation); got != 0 {
			t.Errorf("cost %d: %v allocations", cost, got)
		}
	}
}
