package admit

import "github.com/weir-go/weir/law"

// A Change is one move of the limit.
type Change struct {
	At       int64
	From, To int
	Reason   law.Reason
	Seq      uint64 // its number among the node's events, 0 if it is not observed
}

// keptChanges is how many changes a history holds; two dozen bytes each.
const keptChanges = 16

// history is a ring of the last changes that grows as it is needed. A change's
// From is the To of the one before.
type history struct {
	ring         []entry
	next         uint8 // where the next one goes once the ring is full
	before       int32 // the limit before the oldest
	raised, cuts uint32
}

type entry struct {
	at         int64
	have, want float32
	to         int32
	signal     law.Signal
	code       law.ReasonCode
}

func (h *history) add(at int64, from, to int, why law.Reason) {
	if to > from {
		h.raised++
	} else if to < from {
		h.cuts++
	}
	e := entry{
		at: at, to: int32(to), signal: why.Signal, code: why.Code,
		have: float32(why.Have), want: float32(why.Want),
	}
	if len(h.ring) == 0 {
		h.before = int32(from)
	}
	if len(h.ring) < keptChanges {
		h.ring = append(h.grown(), e)
		return
	}
	h.before = h.ring[h.next].to
	h.ring[h.next] = e
	h.next = (h.next + 1) % keptChanges
}

// grown returns the ring with room for one more, doubled from 4 where append
// would take more.
func (h *history) grown() []entry {
	if len(h.ring) < cap(h.ring) {
		return h.ring
	}
	return append(make([]entry, 0, max(4, 2*len(h.ring))), h.ring...)
}

func (h *history) last() law.Reason {
	if len(h.ring) == 0 {
		return law.Reason{}
	}
	return h.ring[(int(h.next)+len(h.ring)-1)%len(h.ring)].reason()
}

func (h *history) changes() []Change {
	all := make([]Change, 0, len(h.ring))
	from := int(h.before)
	for i := range h.ring {
		e := h.ring[(int(h.next)+i)%len(h.ring)]
		all = append(all, Change{At: e.at, From: from, To: int(e.to), Reason: e.reason()})
		from = int(e.to)
	}
	return all
}

func (e entry) reason() law.Reason {
	return law.Reason{Code: e.code, Signal: e.signal, Have: float64(e.have), Want: float64(e.want)}
}

// History returns the last changes of the limit, oldest first.
func (n *Node) History() []Change {
	n.lock()
	defer n.unlock()
	return n.history.changes()
}
