package admit

import "container/heap"

// A shareQueue holds the members that wait for their group's slots. Members that stay within their
// entitlement with their next work go first, and among these members the member that would hold
// least for its share. Then comes the member that has borrowed least for its share. Equal members
// take turns, by share. See decision 0007.
type shareQueue struct {
	claims, turns memberHeap
	turn          float64 // turn of the member last served by turn
	arrivals      uint64
}

// A position is the place of a member in the queue.
type position struct {
	turn    float64  // slots that the member got by turn, for its share
	arrival uint64   // when the member came or was last served
	weight  int32    // of its next work
	at      [2]int32 // in the heaps, or none
}

var nowhere = position{at: [2]int32{none, none}}

func (p *position) taken() bool { return p.at[byTurn] != none }

func (q *shareQueue) empty() bool { return len(q.turns.members) == 0 }

// first returns the next member to serve. The queue must not be empty. Level is the present worth
// of a thousandth of a share.
func (q *shareQueue) first(level float64) *member {
	if m := q.claims.members[0]; m.claim() <= level {
		return m
	}
	return q.turns.members[0]
}

// isFirst reports whether m would be next if its work of the given weight waited. The queue
// must not be empty.
func (q *shareQueue) isFirst(m *member, weight int32, level float64) bool {
	if m.position.taken() {
		q.put(m, weight)
		return q.first(level) == m
	}
	m.position.weight, m.position.turn, m.position.arrival = weight, max(m.position.turn, q.turn), q.arrivals+1
	by, other := byTurn, q.first(level)
	if m.claim() <= level || other.claim() <= level {
		by = byClaim
	}
	return by.before(m, other)
}

func (q *shareQueue) put(m *member, weight int32) {
	p := &m.position
	switch {
	case !p.taken():
		q.arrivals++
		p.weight, p.turn, p.arrival = weight, max(p.turn, q.turn), q.arrivals
		heap.Push(&q.claims, m)
		heap.Push(&q.turns, m)
	case p.weight != weight:
		p.weight = weight
		q.fix(m)
	}
}

func (q *shareQueue) drop(m *member) {
	if m.position.taken() {
		heap.Remove(&q.claims, int(m.position.at[byClaim]))
		heap.Remove(&q.turns, int(m.position.at[byTurn]))
	}
}

// fix reorders m after its slots or allocation changed. A member gets no compensation for turns
// that it missed while it held more than other members.
func (q *shareQueue) fix(m *member) {
	if m.position.taken() {
		m.position.turn = max(m.position.turn, q.turn)
		heap.Fix(&q.claims, int(m.position.at[byClaim]))
		heap.Fix(&q.turns, int(m.position.at[byTurn]))
	}
}

func (q *shareQueue) serve(m *member, level float64) {
	p := &m.position
	q.arrivals++
	p.arrival = q.arrivals
	if m.claim() > level {
		q.turn = max(q.turn, p.turn)
		p.turn += 1000 * float64(p.weight) / float64(m.share)
	}
}

// claim is the slots per share that m would hold with its next work.
func (m *member) claim() float64 { return m.borrowed(int64(m.position.weight)) }

type order uint8

const (
	byClaim order = iota
	byTurn
)

// before reports whether a is served before b. Among members with equal claims the member served
// last comes last.
func (o order) before(a, b *member) bool {
	if o == byClaim {
		if x, y := a.claim(), b.claim(); x != y {
			return x < y
		}
		return a.position.arrival < b.position.arrival
	}
	if x, y := max(0, a.borrowed(0)), max(0, b.borrowed(0)); x != y {
		return x < y
	}
	if a.position.turn != b.position.turn {
		return a.position.turn < b.position.turn
	}
	return a.position.arrival < b.position.arrival
}

type memberHeap struct {
	members []*member
	by      order
}

func (h *memberHeap) Len() int           { return len(h.members) }
func (h *memberHeap) Less(i, j int) bool { return h.by.before(h.members[i], h.members[j]) }

func (h *memberHeap) Swap(i, j int) {
	h.members[i], h.members[j] = h.members[j], h.members[i]
	h.members[i].position.at[h.by], h.members[j].position.at[h.by] = int32(i), int32(j)
}

func (h *memberHeap) Push(x any) {
	m := x.(*member)
	m.position.at[h.by] = int32(len(h.members))
	h.members = append(h.members, m)
}

func (h *memberHeap) Pop() any {
	last := len(h.members) - 1
	m := h.members[last]
	h.members[last] = nil
	h.members = h.members[:last]
	m.position.at[h.by] = none
	return m
}
