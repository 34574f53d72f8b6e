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

func TestBudgetOfAClientWithLittleTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(t, retry.BudgetConfig{MinPerSecond: 0.5})
		retries := 0
		for range 600 {
			time.Sleep(time.Second)
			if b.Withdraw() {
				retries++
			}
		}
		if retries < 290 || retries > 330 {
			t.Errorf("%d retries in 10 minutes without a success, want about 300", retries)
		}
	})
}

// A least rate below one in a window adds to the share.
func TestBudgetAddsUpFractions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(t, retry.BudgetConfig{Window: time.Second, MinPerSecond: 0.5})
		if b.Withdraw() {
			t.Error("half a retry is one")
		}
		for range 5 {
			b.Deposit()
		}
		if n := withdrawn(b); n != 1 {
			t.Errorf("%d retries, want half a one and a tenth of 5", n)
		}
	})
}
