package admit

import "sort"

// A piece is virtual work, see [virtual].
type piece struct {
	since  int64 // when it started or, while it waits, when it came
	weight int32
	left   int32 // weight that has not ended yet
}

// pieces are virtual work, oldest first: a ring in which those that left from its midst leave
// holes. It grows to what is in it at once and no further.
type pieces struct {
	ring  []piece // its length is a power of two
	head  int
	n     int // with the holes
	holes int // pieces of which nothing is left
}

func (l *pieces) len() int { return l.n - l.holes }

func (l *pieces) at(i int) *piece { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// oldest returns the first piece, nil if there is none.
func (l *pieces) oldest() *piece {
	if l.n == 0 {
		return nil
	}
	return l.at(0)
}

// push appends a piece. It is not older than the others.
func (l *pieces) push(since int64, weight int32) {
	if l.n == len(l.ring) {
		l.makeRoom()
	}
	l.n++
	*l.at(l.n - 1) = piece{since: since, weight: weight, left: weight}
}

// makeRoom closes the holes, and doubles the ring if they are less than half of it.
func (l *pieces) makeRoom() {
	size := max(16, len(l.ring))
	if 2*l.len() > size {
		size *= 2
	}
	ring := make([]piece, 0, size)
	for i := range l.n {
		if p := l.at(i); p.left > 0 {
			ring = append(ring, *p)
		}
	}
	*l = pieces{ring: ring[:size], n: len(ring)}
}

// find returns a piece of that age, if possible one of that weight, nil if there is none.
func (l *pieces) find(since int64, weight int32) (found *piece) {
	first := sort.Search(l.n, func(i int) bool { return l.at(i).since >= since })
	for i := first; i < l.n && l.at(i).since == since; i++ {
		p := l.at(i)
		if p.left > 0 && p.weight == weight {
			return p
		}
		if p.left > 0 && found == nil {
			found = p
		}
	}
	return found
}

// remove takes a piece out, all of which has ended.
func (l *pieces) remove(p *piece) {
	p.left = 0
	l.holes++
	for l.n > 0 && l.at(0).left == 0 {
		l.head = (l.head + 1) & (len(l.ring) - 1)
		l.n--
		l.holes--
	}
}
