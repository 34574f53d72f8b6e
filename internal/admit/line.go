package admit

import "container/heap"

// A line is the members that wait for their group's slots, whatever waits in them.
// A member that stays within its entitlement with its next work goes first, and of these the one that
// would hold least for its share. Then comes the one that has borrowed least for its share. Equal
// members take turns, by share. See decision 0007.
type line struct {
	claims, turns rank
	turn          float64 // of who was served last by turn
	arrivals      uint64
}

// A place is where a member stands in line.
type place struct {
	turn    float64  // slots it got by turn, for its share
	arrival uint64   // when it came or was last served
	weight  int32    // of its work that is next
	at      [2]int32 // in the ranks, or none
}

var nowhere = place{at: [2]int32{none, none}}

func (p *place) taken() bool { return p.at[byTurn] != none }

func newLine() line { return line{claims: rank{by: byClaim}, turns: rank{by: byTurn}} }

func (l *line) empty() bool { return len(l.turns.members) == 0 }

// first returns the member that is served next in a line that is not empty. Level is what
// a share is worth.
func (l *line) first(level float64) *member {
	if m := l.claims.members[0]; m.claim() <= level {
		return m
	}
	return l.turns.members[0]
}

// isFirst reports whether it would be m's turn, in a line that is not empty, if its
// work of the given weight waited.
func (l *line) isFirst(m *member, weight int32, level float64) bool {
	if m.place.taken() {
		l.put(m, weight)
		return l.first(level) == m
	}
	m.place.weight, m.place.turn, m.place.arrival = weight, max(m.place.turn, l.turn), l.arrivals+1
	by, other := byTurn, l.first(level)
	if m.claim() <= level || other.claim() <= level {
		by = byClaim
	}
	return by.before(m, other)
}

// put has m stand in line with work of the given weight.
func (l *line) put(m *member, weight int32) {
	p := &m.place
	switch {
	case !p.taken():
		l.arrivals++
		p.weight, p.turn, p.arrival = weight, max(p.turn, l.turn), l.arrivals
		heap.Push(&l.claims, m)
		heap.Push(&l.turns, m)
	case p.weight != weight:
		p.weight = weight
		l.fix(m)
	}
}

// drop has m stand in line no more.
func (l *line) drop(m *member) {
	if m.place.taken() {
		heap.Remove(&l.claims, int(m.place.at[byClaim]))
		heap.Remove(&l.turns, int(m.place.at[byTurn]))
	}
}

// fix follows a change of what m holds or may hold. Turns that it could not have had
// while it held more than others are not made up for.
func (l *line) fix(m *member) {
	if m.place.taken() {
		m.place.turn = max(m.place.turn, l.turn)
		heap.Fix(&l.claims, int(m.place.at[byClaim]))
		heap.Fix(&l.turns, int(m.place.at[byTurn]))
	}
}

// serve notes that m's turn has come.
func (l *line) serve(m *member, level float64) {
	p := &m.place
	l.arrivals++
	p.arrival = l.arrivals
	if m.claim() > level {
		l.turn = max(l.turn, p.turn)
		p.turn += 1000 * float64(p.weight) / float64(m.share)
	}
}

// claim is what m would hold of its share with its next work.
func (m *member) claim() float64 { return m.borrowed(int64(m.place.weight)) }

// An order is one in which members are served.
type order uint8

const (
	byClaim order = iota
	byTurn
)

// before reports whether a is served before b. A claim that was met yields to those
// equal to it.
func (o order) before(a, b *member) bool {
	if o == byClaim {
		if x, y := a.claim(), b.claim(); x != y {
			return x < y
		}
		return a.place.arrival < b.place.arrival
	}
	if x, y := max(0, a.borrowed(0)), max(0, b.borrowed(0)); x != y {
		return x < y
	}
	if a.place.turn != b.place.turn {
		return a.place.turn < b.place.turn
	}
	return a.place.arrival < b.place.arrival
}

// A rank is a heap of members.
type rank struct {
	members []*member
	by      order
}

func (r *rank) Len() int           { return len(r.members) }
func (r *rank) Less(i, j int) bool { return r.by.before(r.members[i], r.members[j]) }

func (r *rank) Swap(i, j int) {
	r.members[i], r.members[j] = r.members[j], r.members[i]
	r.members[i].place.at[r.by], r.members[j].place.at[r.by] = int32(i), int32(j)
}

func (r *rank) Push(x any) {
	m := x.(*member)
	m.place.at[r.by] = int32(len(r.members))
	r.members = append(r.members, m)
}

func (r *rank) Pop() any {
	last := len(r.members) - 1
	m := r.members[last]
	r.members[last] = nil
	r.members = r.members[:last]
	m.place.at[r.by] = none
	return m
}
