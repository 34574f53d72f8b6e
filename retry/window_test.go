package retry

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

// Seeded lets a throttle draw the same numbers in each run of a test.
func (t *Throttler) Seeded() *Throttler {
	t.random = rand.New(rand.NewPCG(1, 2)).Float64
	return t
}

// Events at a later time do not count after the clock was turned back, as it is in a bubble.
func TestClockTurnedBack(t *testing.T) {
	b := must.Have(NewBudget(BudgetConfig{}))(t)
	throttle := must.Have(NewThrottler(ThrottlerConfig{}))(t)
	spend := func() {
		allowed := 0
		for b.Withdraw() {
			allowed++
		}
		if allowed != 10 {
			t.Errorf("%d retries, want 10", allowed)
		}
	}
	spend()
	for range 100 {
		if ticket, err := throttle.TryAcquire(t.Context()); err == nil {
			ticket.Finish(weir.Overloaded)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		spend()
		for range minSamples {
			ticket, err := throttle.TryAcquire(t.Context())
			if err != nil {
				t.Fatal("refused for what happened later")
			}
			ticket.Finish(weir.Success)
		}
	})
}
