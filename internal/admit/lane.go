package admit

// A lane is the waiters of one priority in order of arrival.
type lane struct {
	oldest, newest *Waiter
	length         int
}

func (l *lane) push(w *Waiter) {
	w.prev, w.next = l.newest, nil
	if l.newest == nil {
		l.oldest = w
	} else {
		l.newest.next = w
	}
	l.newest = w
	l.length++
}

func (l *lane) remove(w *Waiter) {
	if w.prev == nil {
		l.oldest = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.newest = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	l.length--
}
