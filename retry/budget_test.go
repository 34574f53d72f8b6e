package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/retry"
)

func newBudget(t *testing.T, cfg retry.BudgetConfig) *retry.Budget {
	t.Helper()
	b, err := retry.NewBudget(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withdrawn returns how many retries a budget allows now.
func withdrawn(b *retry.Budget) (n int) {
	for b.Withdraw() {
		n++
	}
	return n
}

func TestBudgetIsAShareOfSuccesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(t, retry.BudgetConfig{})
		for range 1000 {
			b.Deposit()
		}
		if n := withdrawn(b); n != 110 {
			t.Errorf("%d retries, want a tenth of 1000 and 10 more", n)
		}
		time.Sleep(4 * time.Second)
		if n := withdrawn(b); n != 0 {
			t.Errorf("%d retries after 4s, want none", n)
		}
		time.Sleep(6 * time.Second)
		if n := withdrawn(b); n != 10 {
			t.Errorf("%d retries after the window, want 10, for the successes are gone", n)
		}
	})
}
