package admit

import (
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// State is a node at one moment.
type State struct {
	Limit, Min, Max  int
	InFlight, Queued int
	Resting          int // weight of the resting slots of refused work
	Shadow           bool
	Recent           window.Recent
	Age              time.Duration
	DrainRate        float64
	Deadline         time.Duration // as for the law
	Member           MemberState   // the zero one without a group

	Admitted, Completed                  uint64
	Succeeded, Failed, TimedOut, Ignored uint64 // outcomes recorded so far
	Overloaded, Late                     uint64 // likewise
	Cancelled                            uint64
	Refused                              [reply.Refusals]uint64 // by verdict
	WouldRefuse                          uint64
	Raised, Cuts                         uint64
	Last                                 law.Reason // of a change
	Decided                              law.Reason // the law's last reason
}

// Idle reports whether no work runs or waits in the node.
func (n *Node) Idle() bool {
	n.slots.lock()
	defer n.slots.unlock()
	return n.slots.running() == 0 && n.queue.Len() == 0
}

// Settings returns the node's settings, apart from Applied and Allocation.
func (n *Node) Settings() Settings {
	n.slots.lock()
	defer n.slots.unlock()
	c := &n.conf
	return Settings{
		Bounds:       c.bounds(c.initial),
		Interval:     time.Duration(c.interval),
		Lookback:     time.Duration(n.slots.lookback),
		MinSamples:   int(c.minSamples),
		QueueSize:    int(c.queueSize),
		QueueTimeout: time.Duration(c.queueTimeout),
		Order:        c.order,
		Tenants:      int(c.tenants),
		Shadow:       n.slots.flags&shadow != 0,
		Observed:     n.events.observed,
		Cumulative:   n.slots.cumulative,
		Wall:         c.wall,
	}
}

// State reads the node and changes nothing: no window is closed. The copies get the node's
// cumulative measurements of the same moment.
func (n *Node) State(now int64, copies ...*window.Cumulative) State {
	raw := window.NewRaw()
	s := n.Read(now, raw, copies...)
	s.Recent = raw.Recent()
	return s
}

// Read is State for a reader of many nodes. It leaves Recent empty: the reader computes it from the
// raw measurements without the lock.
func (n *Node) Read(now int64, raw *window.Raw, copies ...*window.Cumulative) State {
	raw.Clear()
	n.slots.lock()
	defer n.slots.unlock()
	resting := n.slots.restingAt(now)
	idle := n.last // since then the limit has held nothing back
	if !n.slots.saturatedBeside(resting) || n.slots.awaitsPace() {
		idle = max(now, n.last)
	}
	s := State{
		Limit:     int(n.slots.ceiling()),
		Min:       int(n.conf.min),
		Max:       int(n.conf.max),
		InFlight:  int(n.slots.running()),
		Queued:    n.queue.Len(),
		Resting:   int(resting),
		Shadow:    n.slots.flags&shadow != 0,
		DrainRate: n.slots.pace().bucket().Bound(n.slots.contention.drainRate(idle, n.slots.lookback)),
		Deadline:  n.slots.contention.deadline(),
		Admitted:  n.admitted,
		Completed: n.completed,
		Failed:    n.outcomes.failed,
		TimedOut:  n.outcomes.timedOut,
		Ignored:   n.outcomes.ignored,
		Raised:    uint64(n.history.raised),
		Cuts:      uint64(n.history.cuts),
		Last:      n.history.last(),
		Decided:   n.decided.public(),
	}
	if n.slots.member != nil {
		s.Member = n.slots.member.state()
	}
	if m := n.slots.realMeter(); m != nil {
		m.CopyRecent(raw, max(now, n.last))
		s.Age = m.Age(max(now, n.last))
		for _, c := range copies {
			m.CopyTo(c, now, int(n.slots.running()))
		}
	}
	if c := n.slots.contention; c != nil {
		copy(s.Refused[reply.OverShare:], c.refused[:])
		s.Cancelled = c.cancelled
		if c.cold != nil {
			s.WouldRefuse = c.cold.wouldRefuse
			s.Overloaded, s.Late = c.cold.overloaded, c.cold.late
			s.Succeeded = c.cold.heard
		}
	}
	s.Succeeded += s.Completed - s.Failed - s.TimedOut - s.Ignored - s.Overloaded - s.Late
	return s
}

// History returns the last changes of the limit, oldest first.
func (n *Node) History() []Change {
	n.slots.lock()
	defer n.slots.unlock()
	return n.history.changes(int(n.slots.found(n.decided)))
}
