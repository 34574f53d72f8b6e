package admit

import (
	"slices"
	"sync"
)

// A Group caps the work in flight of all its nodes together. Its lock takes the
// place of theirs, so that one critical section checks both limits.
type Group struct {
	mu       sync.Mutex
	limit    int
	inflight int64
	waiting  []*Node // nodes with a queue, in the order in which they are served next
}

// NewGroup returns a group with the given limit.
func NewGroup(limit int) *Group { return &Group{limit: limit} }

// InFlight returns the weight of the work in flight in all nodes.
func (g *Group) InFlight() int {
	lock(&g.mu)
	defer g.mu.Unlock()
	return int(g.inflight)
}

// await has the node served when a slot of the group is free.
func (g *Group) await(n *Node) {
	if !slices.Contains(g.waiting, n) {
		g.waiting = append(g.waiting, n)
	}
}

// serve hands the group's free slots to its nodes in turn, one at a time.
func (g *Group) serve(now int64, fx *Effects) {
	for idle := 0; idle < len(g.waiting) && g.inflight < int64(g.limit); {
		n := g.waiting[0]
		copy(g.waiting, g.waiting[1:])
		g.waiting = g.waiting[:len(g.waiting)-1]
		served := n.serveOne(n.flow(now), fx)
		n.endDrain()
		if n.queued() == 0 {
			continue
		}
		g.waiting = append(g.waiting, n)
		idle++
		if served {
			idle = 0
		}
	}
}
