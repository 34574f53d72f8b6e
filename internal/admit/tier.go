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

func (u urgency) Len() int { return len(u) }
func (u urgency) Less(i, j int) bool {
	if u[i].latest != u[j].latest {
		return u[i].latest < u[j].latest
	}
	return u[i].joined < u[j].joined
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
