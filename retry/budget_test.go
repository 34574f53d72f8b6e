package retry_test

import (
	"testing"

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
