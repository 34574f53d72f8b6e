package admit

import (
	"time"

	"github.com/weir-go/weir/internal/queue"
)

// A Node admits work up to a limit that a law moves. All its methods are safe for concurrent use
// and take the time in nanoseconds on one monotonic scale. A time up to a second before the last
// time counts as equal to the last time (see clock.go).
type Node struct {
	// The fields that every call uses come first.
	slots    slots
	last     int64 // the time of the last call
	admitted uint64
	loop

	completed uint64
	conf      conf
	queue     *queue.Queue // nil until work has to wait
	outcomes  outcomes
	history   history
	events    events
}

// flow books the time since the last call, in which the node's state did not change. The law must
// not see work that only the group, the cap or the pace holds back: a limit that was not reached
// says nothing about a higher limit (decision 0007).
func (n *Node) flow(now int64) int64 {
	if now < n.last-farBack {
		n.turnBack(now)
	}
	now = max(now, n.last)
	for n.slots.flags&resting != 0 && n.slots.contention.cold.rests.next() < now {
		n.flow(n.slots.contention.cold.rests.next()) // the state changes there
	}
	limited := false
	if n.slots.saturated() && !n.slots.awaitsPace() {
		n.slots.contended().pass(n.last, now, n.slots.lookback)
		limited = !n.slots.awaitsGroup() && !n.slots.awaitsCap()
	}
	if n.slots.meter != nil {
		n.slots.meter.Flow(now, int(n.slots.measuring()), limited)
	}
	if n.slots.flags&paced != 0 {
		n.slots.pace().fill(now - n.last)
	}
	if n.slots.flags&shadow != 0 {
		n.slots.double().Flow(now-n.last, now, n.slots.inflight, n.slots.limit)
	}
	if n.slots.flags&resting != 0 {
		n.slots.endRests(now)
	}
	n.last = now
	return now
}

func (n *Node) view(now int64) queue.View {
	return queue.View{Now: now, Limit: max(1, n.slots.ceiling()), Size: n.conf.queueSize, Measured: (*measured)(&n.slots)}
}

// measured is the queue's view of the slots.
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
