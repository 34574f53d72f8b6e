package queue

import "iter"

// Lanes is the number of lanes, one for each priority of package weir.
const Lanes = 4

// A lane holds the waiters of one priority, or of one tenant among them, in order of arrival:
// a ring in which the oldest follows the newest.
type lane struct {
	newest *Waiter
	length int32
	passed uint32 // services of other lanes since the last of this lane
}

// kind selects one of the rings of a waiter.
type kind int

const (
	byLane kind = iota
	byTenant
	kinds
)

// link is a waiter's place in a ring.
type link struct{ prev, next *Waiter }

func (l *lane) oldest(k kind) *Waiter {
	if l.newest == nil {
		return nil
	}
	return l.newest.links[k].next
}

func (l *lane) push(w *Waiter, k kind) {
	if l.newest == nil {
		w.links[k] = link{w, w}
	} else {
		w.links[k] = link{l.newest, l.newest.links[k].next}
		w.links[k].prev.links[k].next, w.links[k].next.links[k].prev = w, w
	}
	l.newest = w
	l.length++
}

func (l *lane) remove(w *Waiter, k kind) {
	at := w.links[k]
	at.prev.links[k].next, at.next.links[k].prev = at.next, at.prev
	if l.newest == w {
		l.newest = at.prev
	}
	w.links[k] = link{}
	l.length--
	if l.length == 0 {
		l.newest = nil
	}
}

// A line is a lane, or the part of it that belongs to one tenant.
type line struct {
	*lane
	kind kind
}

func (l line) oldest() *Waiter { return l.lane.oldest(l.kind) }

// mostUrgent returns the waiter that must start first.
func (l line) mostUrgent() *Waiter {
	first := l.oldest()
	for w := range l.all(l.kind) {
		if w.before(first) {
			first = w
		}
	}
	return first
}

// all iterates over the lane from the oldest to the newest. No waiter may leave meanwhile.
func (l *lane) all(k kind) iter.Seq[*Waiter] {
	return func(yield func(*Waiter) bool) {
		w := l.oldest(k)
		for range l.length {
			if !yield(w) {
				return
			}
			w = w.links[k].next
		}
	}
}
