package virtual

import "sort"

// A Piece is a piece of virtual work.
type Piece struct {
	Since  int64 // when it started or, while it waits, when it arrived
	Weight int32
	Left   int32 // weight that has not ended yet
}

// Pieces are virtual work, oldest first: a ring in which pieces that leave from the middle
// leave holes. It grows to its current pieces and no further.
type Pieces struct {
	ring  []Piece // its length is a power of two
	head  int
	n     int // with the holes
	holes int // pieces that have ended
}

// Len returns the number of pieces.
func (l *Pieces) Len() int { return l.n - l.holes }

func (l *Pieces) at(i int) *Piece { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// Oldest returns the first piece, nil if there is none.
func (l *Pieces) Oldest() *Piece {
	if l.n == 0 {
		return nil
	}
	return l.at(0)
}

// Push appends a piece. It is not older than the others.
func (l *Pieces) Push(since int64, weight int32) {
	if l.n == len(l.ring) {
		l.makeRoom()
	}
	l.n++
	*l.at(l.n - 1) = Piece{Since: since, Weight: weight, Left: weight}
}

// makeRoom closes the holes, and doubles the ring if they are less than half of it.
func (l *Pieces) makeRoom() {
	size := max(16, len(l.ring))
	if 2*l.Len() > size {
		size *= 2
	}
	ring := make([]Piece, 0, size)
	for i := range l.n {
		if p := l.at(i); p.Left > 0 {
			ring = append(ring, *p)
		}
	}
	*l = Pieces{ring: ring[:size], n: len(ring)}
}

// find returns a piece with the given start, preferably with the given weight, nil if there
// is none.
func (l *Pieces) find(since int64, weight int32) (found *Piece) {
	first := sort.Search(l.n, func(i int) bool { return l.at(i).Since >= since })
	for i := first; i < l.n && l.at(i).Since == since; i++ {
		p := l.at(i)
		if p.Left > 0 && p.Weight == weight {
			return p
		}
		if p.Left > 0 && found == nil {
			found = p
		}
	}
	return found
}

// turnBack makes pieces that began after now begin now.
func (l *Pieces) turnBack(now int64) {
	for i := range l.n {
		p := l.at(i)
		p.Since = min(p.Since, now)
	}
}

// Remove takes out a piece that has ended.
func (l *Pieces) Remove(p *Piece) {
	p.Left = 0
	l.holes++
	for l.n > 0 && l.at(0).Left == 0 {
		l.head = (l.head + 1) & (len(l.ring) - 1)
		l.n--
		l.holes--
	}
}
