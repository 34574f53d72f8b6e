package sim

// An item of a heap is ordered: before reports whether it comes before another item.
type ordered[T any] interface{ before(T) bool }

// A heap is a 4-ary heap, the first item on top.
type heap[T ordered[T]] struct {
	items []T
	moved func(item T, place int) // called with each new place of an item; may be nil
}

func (h *heap[T]) push(item T) {
	h.items = append(h.items, item)
	h.up(len(h.items)-1, item)
}

// remove takes out the item at a place.
func (h *heap[T]) remove(place int) T {
	removed, last := h.items[place], len(h.items)-1
	item := h.items[last]
	h.items = h.items[:last]
	switch {
	case place == last:
	case place > 0 && item.before(h.items[(place-1)/4]):
		h.up(place, item)
	default:
		h.down(place, item)
	}
	return removed
}

func (h *heap[T]) put(place int, item T) {
	h.items[place] = item
	if h.moved != nil {
		h.moved(item, place)
	}
}

func (h *heap[T]) up(place int, item T) {
	for place > 0 {
		parent := (place - 1) / 4
		if !item.before(h.items[parent]) {
			break
		}
		h.put(place, h.items[parent])
		place = parent
	}
	h.put(place, item)
}

func (h *heap[T]) down(place int, item T) {
	for {
		least := 4*place + 1
		if least >= len(h.items) {
			break
		}
		for child := least + 1; child < min(4*place+5, len(h.items)); child++ {
			if h.items[child].before(h.items[least]) {
				least = child
			}
		}
		if !h.items[least].before(item) {
			break
		}
		h.put(place, h.items[least])
		place = least
	}
	h.put(place, item)
}
