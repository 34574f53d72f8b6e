package admit

// A lane is the waiters of one priority in order of arrival: a ring in which the
// oldest follows the newest.
type lane struct {
	newest *Waiter
	length int32
	passed uint32 // turns of others since it had one
}

// oldest returns who has waited longest, nil if nobody waits.
func (l *lane) oldest() *Waiter {
	if l.newest == nil {
		return nil
	}
	return l.newest.next
}

func (l *lane) push(w *Waiter) {
	if l.newest == nil {
		w.prev, w.next = w, w
	} else {
		w.prev, w.next = l.newest, l.newest.next
		w.prev.next, w.next.prev = w, w
	}
	l.newest = w
	l.length++
}

func (l *lane) remove(w *Waiter) {
	w.prev.next, w.next.prev = w.next, w.prev
	if l.newest == w {
		l.newest = w.prev
	}
	w.prev, w.next = nil, nil
	l.length--
	if l.length == 0 {
		l.newest = nil
	}
}
