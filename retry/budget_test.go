package retry_test

import (
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
)

func newBudget(t *testing.T, cfg retry.BudgetConfig) *retry.Budget {
	t.Helper()
	return must.Have(retry.NewBudget(cfg))(t)
}
