package retry

import (
	"cmp"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/clock"
)

// BudgetConfig configures a [Budget]. The zero BudgetConfig works; 0 always means the default.
type BudgetConfig struct {
	// Share is the number of retries that each success pays for. Defaults to 0.1; up to 1.
	Share float64

	// Window is how long a success counts. Defaults to 10 s; from 1 s to 1 h.
	Window time.Duration

	// MinPerSecond is the rate of retries that need no success, for clients with little traffic.
	// The retries of a whole Window may come at once. It holds for each budget: a hundred clients
	// with their own budgets send a hundred times as many retries. Defaults to 1; up to 1000.
	MinPerSecond float64
}

// A Budget bounds retries to a share of successes over a time window, and a least rate. All methods
// are safe for concurrent use and take time independent of the traffic. Make one with [NewBudget];
// the zero Budget is not usable.
type Budget struct {
	share, least float64

	mu     sync.Mutex
	window *window
}

// NewBudget returns a budget. Its error matches [weir.ErrConfig].
func NewBudget(cfg BudgetConfig) (*Budget, error) {
	cfg.Share = cmp.Or(cfg.Share, 0.1)
	cfg.Window = cmp.Or(cfg.Window, 10*time.Second)
	cfg.MinPerSecond = cmp.Or(cfg.MinPerSecond, 1)
	if err := cmp.Or(
		inRange("Budget.Share", cfg.Share, 0, 1),
		lasts("Budget.Window", cfg.Window, time.Second, time.Hour),
		inRange("Budget.MinPerSecond", cfg.MinPerSecond, 0, 1000),
	); err != nil {
		return nil, err
	}
	return &Budget{
		share:  cfg.Share,
		least:  cfg.MinPerSecond * cfg.Window.Seconds(),
		window: newWindow(cfg.Window),
	}, nil
}

// Deposit records a success, which pays for a share of a retry until it leaves the window.
func (b *Budget) Deposit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.advance(clock.Now())
	b.window.current().answers++
}

// Withdraw reports whether a retry is allowed now, and if so records it.
func (b *Budget) Withdraw() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.advance(clock.Now())
	sum := b.window.sum()
	if float64(sum.requests+1) > b.share*float64(sum.answers)+b.least {
		return false
	}
	b.window.current().requests++
	return true
}
