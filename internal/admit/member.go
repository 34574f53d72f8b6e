package admit

import "math"

// An Allocation is a node's part of its group's slots.
type Allocation struct {
	Reserved int     // slots that are never lent, at most Bounds.Max
	Share    float64 // part of the unreserved slots, relative to the other shares; to a thousandth
}

// A member is a group's compact record of a node. It is guarded by the group's lock.
type member struct {
	group    *Group
	node     *Node
	position position
	reserved int32
	share    int32   // in thousandths, so that sums are exact
	wait     float32 // moving average of the time spent waiting for the group, in nanoseconds
	index    int32   // in the group's busy members, or none
}

const none = -1

func (g *Group) join(n *Node, a *Allocation) {
	lock(&g.mu)
	defer g.mu.Unlock()
	n.slots.member = &member{group: g, node: n, share: 1000, index: none, position: nowhere}
	n.slots.member.allocate(a)
}

// allocate gives the member an allocation, nil for its current one, as far as the reserves of other
// members leave room.
func (m *member) allocate(a *Allocation) {
	if a != nil {
		reserved := min(int64(a.Reserved), max(0, m.most()))
		m.set(int32(reserved), max(1, int32(math.Round(1000*a.Share))))
	}
}

func (m *member) set(reserved, share int32) {
	g := m.group
	g.reserved += int64(reserved - m.reserved)
	g.committed -= m.committed()
	if m.busy() {
		g.shares += int64(share - m.share)
	}
	m.reserved, m.share = reserved, share
	g.committed += m.committed()
	g.queue.fix(m)
}

// taken is the slots of the group that the member's work takes. In shadow mode this work is
// virtual, and counts up to the weight of the real work. Virtual work may remain when the last real
// work has ended, and would otherwise keep its slots from other members until the next call of the
// node.
func (m *member) taken() int64 {
	s := &m.node.slots
	if s.flags&shadow != 0 {
		return min(s.inflight, s.running())
	}
	return s.inflight
}

// committed is the number of slots that other members cannot have: the slots of the running work,
// and the unused slots of the reserve.
func (m *member) committed() int64 { return m.reach(m.taken()) }

func (m *member) reach(taken int64) int64 { return max(taken, int64(m.reserved)) }

// start is move for work that starts, which may take the member's turn.
func (m *member) start(weight int64) {
	if m.position.taken() {
		m.group.queue.serve(m, m.level())
	}
	m.move(weight)
}

// move changes the work in flight by the given slots.
func (m *member) move(slots int64) {
	before := m.taken()
	m.node.slots.inflight += slots
	m.moved(before)
}

// moved books a change of the slots that the member takes.
func (m *member) moved(before int64) {
	g, now := m.group, m.taken()
	g.committed += m.reach(now) - m.reach(before)
	g.inflight += now - before
	m.count()
	g.queue.fix(m)
}

func (m *member) busy() bool { return m.index >= 0 }

// count updates whether the member is busy. Only the shares of busy members count, which have
// running or waiting work.
func (m *member) count() {
	n, g := m.node, m.group
	busy := n.slots.running() > 0 || n.slots.flags&waiting != 0
	switch {
	case busy == m.busy():
		return
	case busy:
		m.index = int32(len(g.busy))
		g.busy = append(g.busy, m)
		g.shares += int64(m.share)
		return
	}
	last := g.busy[len(g.busy)-1]
	g.busy[m.index], last.index = last, m.index
	g.busy[len(g.busy)-1] = nil
	g.busy = g.busy[:len(g.busy)-1]
	m.index = none
	g.shares -= int64(m.share)
}

// entitled is the number of slots to which the member has a right: its reserve, and its share of
// the unreserved slots among the busy members.
func (m *member) entitled() float64 {
	return float64(m.reserved) + float64(m.level()*float64(m.share))
}

// level is the present worth of a thousandth of a share, in slots.
func (m *member) level() float64 {
	shares := m.group.shares
	if !m.busy() {
		shares += int64(m.share)
	}
	return float64(m.group.limit-m.group.reserved) / float64(shares)
}

// borrowed is the work of the member beyond its reserve, with weight added, per share.
func (m *member) borrowed(weight int64) float64 {
	return float64(m.taken()+weight-int64(m.reserved)) / float64(m.share)
}

// most is the weight of the heaviest work that the group will ever have room for.
func (m *member) most() int64 { return m.group.limit - m.group.reserved + int64(m.reserved) }

// excludes reports whether work of the given weight will never have room. A limit of 0 is
// temporary, so it excludes no work.
func (m *member) excludes(weight int64) bool { return m.group.limit > 0 && weight > m.most() }

// grows is the number of slots that work of the given weight would add to committed.
func (m *member) grows(weight int64) int64 {
	return max(0, min(weight, m.taken()+weight-int64(m.reserved)))
}

// hasRoom reports whether the group has room for work of the given weight.
func (m *member) hasRoom(weight int64) bool {
	g, grows := m.group, m.grows(weight)
	return g.inflight+weight <= g.limit && (grows == 0 || g.committed+grows <= g.limit)
}

// mayStart reports whether the group has room for work of the given weight and no member in
// the queue goes first.
func (m *member) mayStart(weight int64) bool {
	queue := &m.group.queue
	return m.hasRoom(weight) && (queue.empty() || queue.isFirst(m, int32(weight), m.level()))
}

// isHeldBack reports whether there is room for work of the given weight but other members go first.
// The time of their waiters may be up.
func (m *member) isHeldBack(weight int64) bool { return m.hasRoom(weight) && !m.mayStart(weight) }
