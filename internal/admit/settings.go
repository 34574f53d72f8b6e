package admit

import (
	"time"

	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/law"
)

// Settings are a node's settings, checked and complete.
type Settings struct {
	Bounds       law.Bounds
	Interval     time.Duration // between decisions
	Lookback     time.Duration // how far back the law looks
	MinSamples   int           // completions that a decision needs
	QueueSize    int           // 0 depends on the order
	QueueTimeout time.Duration
	Order        queue.Order
	Tenants      int  // tenants that have a share each, 0 for no fairness
	Shadow       bool // admit all work, count the refusals of a live node
	Observed     bool // report changes and number events
	Cumulative   bool // accumulate a window.Cumulative

	// Wall reads the wall clock, once a window; nil if there is none.
	Wall func() time.Time

	// Applied, if set, is called under the lock when an update applies. So the owner's
	// configuration and the node's always come from the same update.
	Applied func()

	// Resumed is the limit from which an update continues, 0 for the current one.
	Resumed int

	// Allocation is for a node in a group. With nil a node keeps its allocation, and a new node has
	// no reserve and a share of 1.
	Allocation *Allocation
}

// conf is a compact form of Settings: a service may hold a hundred thousand nodes.
type conf struct {
	interval, queueTimeout                   int64
	min, max, initial, minSamples, queueSize int32
	tenants                                  uint16
	wall                                     func() time.Time
	order                                    queue.Order
	queues                                   bool
}

func confOf(s Settings) conf {
	return conf{
		interval:     span(s.Interval),
		queueTimeout: span(s.QueueTimeout),
		min:          int32(s.Bounds.Min),
		max:          int32(s.Bounds.Max),
		initial:      int32(s.Bounds.Initial),
		minSamples:   int32(s.MinSamples),
		queueSize:    int32(s.QueueSize),
		tenants:      uint16(s.Tenants),
		wall:         s.Wall,
		order:        s.Order,
		queues:       s.Order.Size(s.QueueSize) > 0,
	}
}

// bounds returns the bounds for a law that starts from the limit.
func (c *conf) bounds(limit int32) law.Bounds {
	return law.Bounds{Min: int(c.min), Max: int(c.max), Initial: int(limit)}
}

// span bounds a duration so that the sum of a time and a few durations does not overflow.
func span(d time.Duration) int64 { return min(max(int64(d), 0), 1<<60) }
