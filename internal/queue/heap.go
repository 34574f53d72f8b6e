package queue

// deadlines is a heap of waiters, the first to start on top.
type deadlines []*Waiter

// before reports whether w must start before the other.
func (w *Waiter) before(other *Waiter) bool {
	if w.latest != other.latest {
		return w.latest < other.latest
	}
	return w.joined < other.joined
}

func (h deadlines) Len() int           { return len(h) }
func (h deadlines) Less(i, j int) bool { return h[i].before(h[j]) }

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
