package retry

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

// Seeded lets a throttle draw the same numbers in each run of a test.
func (t *Throttler) Seeded() *Throttler {
	t.random = rand.New(rand.NewPCG(1, 2)).Float64
	return t
}

// A call is overdue once it has run for longer than any that was accepted. While none was, the time
// that they take is not known.
func TestOverdueCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := must.Have(NewThrottler(ThrottlerConfig{}))(t)
		throttle.random = func() float64 { return 0 } // it refuses as soon as it refuses any
		slow := must.Have(throttle.TryAcquire(t.Context()))(t)
		for range 60 {
			must.Have(throttle.TryAcquire(t.Context()))(t) // and hang
		}
		for _, step := range []struct {
			after   time.Duration
			refuses bool
		}{{10 * time.Second, false}, {0, false}, {3 * time.Second, true}} {
			time.Sleep(step.after)
			if got := !throttle.approves(weir.PriorityNormal); got != step.refuses {
				t.Errorf("%v later it refuses: %v", step.after, got)
			}
			slow.Finish(weir.Success)
		}
	})
}

// A call counts in the bucket in which it began, while the window includes that bucket. A call that
// was never sent does not count.
func TestTicketsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := must.Have(NewThrottler(ThrottlerConfig{}))(t)
		late := must.Have(throttle.TryAcquire(t.Context()))(t)
		time.Sleep(throttle.length)
		tickets := make([]Ticket, 4) // in the place of the bucket that has left the window
		for i := range tickets {
			tickets[i] = must.Have(throttle.TryAcquire(t.Context()))(t)
		}
		late.Finish(weir.Success)
		for i, outcome := range []weir.Outcome{weir.Success, weir.Overloaded, weir.Ignore} {
			tickets[i].Finish(outcome)
		}
		got := *throttle.lane(weir.PriorityNormal).window.current()
		if want := (sentBucket{begun: 3, ended: 2, accepted: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
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
	late, _ := throttle.TryAcquire(weir.WithPriority(t.Context(), weir.PriorityCritical))
	synctest.Test(t, func(t *testing.T) {
		spend()
		for range minSamples {
			ticket, err := throttle.TryAcquire(t.Context())
			if err != nil {
				t.Fatal("refused for what happened later")
			}
			ticket.Finish(weir.Success)
		}
		late.Finish(weir.Success) // it began later, and is no call of this window
		if l := throttle.lane(weir.PriorityCritical); *l.window.current() != (sentBucket{}) {
			t.Errorf("%+v", *l.window.current())
		}
	})
}
