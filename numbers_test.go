package weir_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/window"
)

// The public constants have the same numbers as those of the core.
func TestConstantsAreThoseOfTheCore(t *testing.T) {
	for outcome, inside := range map[weir.Outcome]window.Outcome{
		weir.Success: window.Success, weir.Failure: window.Failure, weir.Timeout: window.Timeout,
		weir.Ignore: window.Ignore,
	} {
		if outcome != weir.Outcome(inside) {
			t.Errorf("an outcome is %d, and %d in the core", outcome, inside)
		}
	}
	for discipline, inside := range map[weir.Discipline]queue.Order{
		weir.FIFO: queue.FIFO, weir.Adaptive: queue.Adaptive,
	} {
		if discipline != weir.Discipline(inside) {
			t.Errorf("%v is %d, and %d in the core", discipline, discipline, inside)
		}
	}
}
