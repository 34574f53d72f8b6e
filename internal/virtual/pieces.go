package virtual

import "sort"

// A Piece is a piece of virtual work.
type Piece struct {
	Since  int64 // when it started or, while it waits, when it arrived
	Weight int32
	Left   int32 // weight that has not ended yet
}

// Pieces is a list of virtual work, the oldest piece first. A piece that ends in the middle leaves
// a hole. The list loses its holes before it grows, so its size depends only on the pieces at one
// time.
type Pieces struct {
	list  []Piece
	head  int // the first piece
	holes int // pieces behind the head that have ended
}

// Len returns the number of pieces.
func (l *Pieces) Len() int { return len(l.list) - l.head - l.holes }

// Oldest returns the first piece, nil if there is none.
func (l *Pieces) Oldest() *Piece {
	if l.head == len(l.list) {
		return nil
	}
	return &l.list[l.head]
}

// Push appends a piece. It is not older than the other pieces.
func (l *Pieces) Push(since int64, weight int32) {
	if len(l.list) == cap(l.list) {
		l.makeRoom()
	}
	l.list = append(l.list, Piece{Since: since, Weight: weight, Left: weight})
}

// makeRoom removes the pieces that have ended. It doubles the list, unless more than half of the
// list has ended.
func (l *Pieces) makeRoom() {
	list := l.list[:0]
	if 2*l.Len() >= cap(list) {
		list = make([]Piece, 0, max(16, 2*cap(list)))
	}
	for _, p := range l.list[l.head:] {
		if p.Left > 0 {
			list = append(list, p)
		}
	}
	*l = Pieces{list: list}
}

// find returns a piece with the given start, preferably with the given weight, nil if there
// is none.
func (l *Pieces) find(since int64, weight int32) (found *Piece) {
	list := l.list[l.head:]
	first := sort.Search(len(list), func(i int) bool { return list[i].Since >= since })
	for i := first; i < len(list) && list[i].Since == since; i++ {
		p := &list[i]
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
	for i := range l.list {
		l.list[i].Since = min(l.list[i].Since, now)
	}
}

// Remove takes out a piece that has ended.
func (l *Pieces) Remove(p *Piece) {
	p.Left = 0
	l.holes++
	for l.head < len(l.list) && l.list[l.head].Left == 0 {
		l.head++
		l.holes--
	}
}
