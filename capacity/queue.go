package capacity

// A queue holds the waiters of one level, in order of arrival there.
type queue struct {
	first, last *seat
	length      int
}

// A seat is a reservation's place in a queue.
type seat struct {
	reservation *reservation
	prev, next  *seat
	taken       bool
}

func (q *queue) push(w *reservation, level int) {
	s := &w.seats[level]
	*s = seat{reservation: w, prev: q.last, taken: true}
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
	q.length++
}

func (q *queue) remove(s *seat) {
	if s.prev == nil {
		q.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		q.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	*s = seat{}
	q.length--
}
