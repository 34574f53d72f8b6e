package admit

import "container/heap"

// A tier is what the adaptive discipline knows of a lane: who must start first,
// and whether its queue stands.
type tier struct {
	urgent  urgency
	since   int64   // when it last stopped being empty
	refused float32 // share of its recent arrivals that were refused
}

func (t *tier) push(w *Waiter) {
	if len(t.urgent) == 0 {
		t.since = w.joined
	}
	heap.Push(&t.urgent, w)
}

func (t *tier) remove(w *Waiter) { heap.Remove(&t.urgent, w.position) }

// note counts an arrival, or the refusal of one, in the share of refusals.
func (t *tier) note(refused bool) {
	share := float32(0)
	if refused {
		share = 1
	}
	t.refused += float32(arrivalWeight * (share - t.refused))
}

// urgency is a heap of waiters, the one that must start first on top.
type urgency []*Waiter

func (u urgency) Len() int           { return len(u) }
func (u urgency) Less(i, j int) bool { return u[i].before(u[j]) }

// before reports whether w must start before the other.
func (w *Waiter) before(other *Waiter) bool {
	if w.latest != other.latest {
		return w.latest < other.latest
	}
	return w.joined < other.joined
}

// mostUrgent returns who must start first, of a lane that has no heap of its own.
func (l *lane) mostUrgent(k kind) *Waiter {
	first := l.oldest(k)
	for w := range l.all(k) {
		if w.before(first) {
			first = w
		}
	}
	return first
}

func (u urgency) Swap(i, j int) {
	u[i], u[j] = u[j], u[i]
	u[i].position, u[j].position = i, j
}

func (u *urgency) Push(x any) {
	w := x.(*Waiter)
	w.position = len(*u)
	*u = append(*u, w)
}

func (u *urgency) Pop() any {
	last := len(*u) - 1
	w := (*u)[last]
	(*u)[last] = nil
	*u = (*u)[:last]
	return w
}
