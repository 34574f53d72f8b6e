package queue

import "container/heap"

// A laneState is what the adaptive order knows of a lane: who must start first,
// and whether its queue stands.
type laneState struct {
	urgent  deadlines
	since   int64   // when it last stopped being empty
	refused float32 // share of its recent arrivals that were refused
}

func (s *laneState) push(w *Waiter) {
	if len(s.urgent) == 0 {
		s.since = w.joined
	}
	heap.Push(&s.urgent, w)
}

func (s *laneState) remove(w *Waiter) { heap.Remove(&s.urgent, w.position) }

// isLate reports whether the one that must start first no longer can.
func (s *laneState) isLate(now int64) bool { return len(s.urgent) > 0 && s.urgent[0].latest < now }

// note counts an arrival, or the refusal of one, in the share of refusals.
func (s *laneState) note(refused bool) {
	share := float32(0)
	if refused {
		share = 1
	}
	s.refused += float32(arrivalWeight * (share - s.refused))
}

// deadlines is a heap of waiters, the one that must start first on top.
type deadlines []*Waiter

func (h deadlines) Len() int           { return len(h) }
func (h deadlines) Less(i, j int) bool { return h[i].before(h[j]) }

// before reports whether w must start before the other.
func (w *Waiter) before(other *Waiter) bool {
	if w.latest != other.latest {
		return w.latest < other.latest
	}
	return w.joined < other.joined
}

// mostUrgent returns the one that must start first, of a lane that has no heap of its own.
func (l *lane) mostUrgent(k kind) *Waiter {
	first := l.oldest(k)
	for w := range l.all(k) {
		if w.before(first) {
			first = w
		}
	}
	return first
}

func (h deadlines) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].position, h[j].position = i, j
}

func (h *deadlines) Push(x any) {
	w := x.(*Waiter)
	w.position = len(*h)
	*h = append(*h, w)
}

func (h *deadlines) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return w
}
