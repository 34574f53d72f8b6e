package admit

import (
	"slices"
	"sync"
	"time"
)

// A Group caps the work in flight of all its nodes together, and shares its slots out among
// them. Its lock replaces their locks, so that one critical section checks both limits.
type Group struct {
	mu        sync.Mutex
	limit     int64
	inflight  int64 // here and below, nodes in shadow mode count with virtual work
	reserved  int64
	committed int64     // sum over the members, see [member.committed]
	shares    int64     // of the busy members, in thousandths
	busy      []*member // members with running or waiting work, in no order
	queue     shareQueue
	records   records
}

// NewGroup returns a group with the given limit.
func NewGroup(limit int) *Group {
	return &Group{limit: int64(limit), queue: shareQueue{claims: memberHeap{by: byClaim}, turns: memberHeap{by: byTurn}}}
}

// running is the weight of the real work in flight.
func (g *Group) running() (weight int) {
	for _, m := range g.busy {
		weight += int(m.node.slots.running())
	}
	return weight
}

// Resize changes the limit, which must leave room for the reserves. Running work is left alone:
// above the new limit no work starts until enough work has ended.
func (g *Group) Resize(limit int, now int64, fx *Effects) {
	lock(&g.mu)
	defer g.mu.Unlock()
	g.limit = int64(limit)
	g.review(now, fx)
}

// Reserve moves the reserve of a node to the nearest value from least to most, as far as the
// reserves of other nodes leave room.
func (g *Group) Reserve(n *Node, least, most int, now int64, fx *Effects) {
	lock(&g.mu)
	defer g.mu.Unlock()
	m := n.slots.member
	reserved := min(max(int64(m.reserved), int64(least)), int64(most), m.most())
	if reserved != int64(m.reserved) {
		m.set(int32(reserved), m.share)
		g.review(now, fx)
	}
}

// Remove closes a node and gives its reserve to the rest of the group. If the node is in use,
// Remove does nothing and reports false.
func (g *Group) Remove(n *Node, now int64, fx *Effects) bool {
	lock(&g.mu)
	defer g.mu.Unlock()
	m := n.slots.member
	if n.slots.running() > 0 || n.slots.flags&waiting != 0 {
		return false
	}
	n.setShadow(false, now, fx)
	n.slots.flags.set(closed, true)
	m.set(0, m.share)
	g.review(now, fx)
	return true
}

// GroupState is a group at one moment.
type GroupState struct {
	Limit    int
	InFlight int
	Reserved int // sum of the reserves
	Lent     int // slots that nodes use beyond their reserves
	Busy     int // members with running or waiting work
}

// MemberState is a node in its group at one moment.
type MemberState struct {
	Allocation
	Entitled float64       // slots it has a right to, reserve included
	Borrowed float64       // slots in flight beyond Entitled
	Wait     time.Duration // moving average of the time spent waiting for the group
}

// State reads the whole group at one moment.
func (g *Group) State() GroupState {
	lock(&g.mu)
	defer g.mu.Unlock()
	return GroupState{
		Limit: int(g.limit), InFlight: g.running(), Reserved: int(g.reserved),
		Lent: int(g.committed - g.reserved), Busy: len(g.busy),
	}
}

func (m *member) state() MemberState {
	entitled := min(m.entitled(), float64(m.node.slots.ceiling()))
	return MemberState{
		Allocation: Allocation{Reserved: int(m.reserved), Share: float64(m.share) / 1000},
		Entitled:   entitled,
		Borrowed:   max(0, float64(m.taken())-entitled),
		Wait:       time.Duration(m.wait),
	}
}

// serve hands free slots to the waiters of the group.
func (g *Group) serve(now int64, fx *Effects) {
	for m := g.first(); m != nil; m = g.first() {
		n := m.node
		at := n.flow(now)
		served := true
		for served {
			served = n.serveOne(at, fx)
			m.standInQueue(at, fx)
			if m.position.taken() {
				break // the next turn may be another member's
			}
		}
		n.endDrain()
		if !served && g.first() == m {
			return // it waits for more than is free, and nothing overtakes it
		}
	}
}

// first returns the member that is served next, nil if no member waits for the group.
func (g *Group) first() *member {
	if g.queue.empty() {
		return nil
	}
	return g.queue.first(g.queue.turns.members[0].level())
}

// review tries all waiters of the group again, after the group changed.
func (g *Group) review(now int64, fx *Effects) {
	for _, m := range slices.Clone(g.queue.turns.members) {
		m.node.serve(m.node.flow(now), fx)
	}
}

// standInQueue queues the member for the group if only the group keeps its next work from
// starting.
func (m *member) standInQueue(now int64, fx *Effects) {
	n, queue := m.node, &m.group.queue
	next := n.next(now, fx)
	m.count()
	if next != nil && n.slots.admits(next.Weight) {
		queue.put(m, int32(next.Weight))
		return
	}
	queue.drop(m)
	if next != nil {
		n.slots.recheckSooner(next, now, fx)
	}
}
