package admit

import (
	"slices"

	"github.com/weir-go/weir/law"
)

// A Change is one move of the limit.
type Change struct {
	At       int64
	From, To int
	Reason   law.Reason
	Seq      uint64 // the number among the node's events, 0 if no hook observes them
}

// keptChanges is the number of changes that a history keeps. A change takes two dozen bytes.
const keptChanges = 16

// history has the last changes, oldest first. An entry does not store its new limit: the next
// change starts from that limit, or it is the current limit.
type history struct {
	entries      []entry
	raised, cuts uint32
}

type entry struct {
	at   int64
	from int32
	why  reason
}

// reason is a law.Reason in half the memory.
type reason struct {
	have, want float32
	signal     law.Signal
	code       law.ReasonCode
}

func newReason(r law.Reason) reason {
	return reason{have: float32(r.Have), want: float32(r.Want), signal: r.Signal, code: r.Code}
}

func (r reason) public() law.Reason {
	return law.Reason{Code: r.code, Signal: r.signal, Have: float64(r.have), Want: float64(r.want)}
}

func (h *history) add(at int64, from, to int, why law.Reason) {
	if to > from {
		h.raised++
	} else if to < from {
		h.cuts++
	}
	if len(h.entries) == keptChanges {
		h.entries = append(h.entries[:0], h.entries[1:]...)
	}
	h.entries = append(h.entries, entry{at: at, from: int32(from), why: newReason(why)})
}

func (h *history) last() law.Reason {
	if len(h.entries) == 0 {
		return law.Reason{}
	}
	return h.entries[len(h.entries)-1].why.public()
}

func (h *history) changes(limit int) []Change {
	all := make([]Change, len(h.entries))
	to := limit
	for i, e := range slices.Backward(h.entries) {
		all[i] = Change{At: e.at, From: int(e.from), To: to, Reason: e.why.public()}
		to = int(e.from)
	}
	return all
}
