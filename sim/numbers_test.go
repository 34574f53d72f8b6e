package sim_test

import (
	"testing"

	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/sim"
)

// Outcomes convert to the outcomes of the core by number.
func TestOutcomesAreThoseOfTheCore(t *testing.T) {
	for outcome, inside := range map[sim.Outcome]window.Outcome{
		sim.Success: window.Success, sim.Failure: window.Failure, sim.Timeout: window.Timeout,
	} {
		if outcome != sim.Outcome(inside) {
			t.Errorf("an outcome is %d, and %d in the core", outcome, inside)
		}
	}
}
