package admit

import (
	"time"

	"github.com/weir-go/weir/internal/queue"
)

// measured is the view of slots that the queue gets.
type measured slots

// Quantile returns the recent latency at a quantile, 0 if nothing has completed.
func (m *measured) Quantile(p float64) time.Duration {
	if m.meter == nil {
		return 0
	}
	return m.meter.Quantile(p)
}

// DrainRate returns completions per second of saturated time, 0 if unknown.
func (m *measured) DrainRate(now int64) float64 { return m.contention.drainRate(now, m.lookback) }

// Pace returns the pace at this moment.
func (m *measured) Pace() queue.Pace { return (*slots)(m).pace().bucket() }
