package sim

import "time"

// An event is scheduled for an attempt. At its time it is ignored if the turn of the slot shows
// that the slot has a later attempt.
type event struct {
	at    time.Duration
	order uint32 // among events of the same instant
	turn  uint32 // of the attempt's slot
	slot  int32
	kind  eventKind
}

type eventKind uint8

const (
	recheck  eventKind = iota // the attempt may start, or its time in the queue may be over
	deadline                  // its client gives up: just after the SLO, because an answer at the SLO is in time
	answer                    // the answer arrives
	retry                     // the request is tried again
)

// events are the scheduled events, the next one first.
type events struct {
	heap[event]
	count uint32
}

func (e event) before(o event) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

func (q *events) next() time.Duration {
	if len(q.items) == 0 {
		return Never
	}
	return q.items[0].at
}

func (q *events) schedule(e event) {
	e.order = q.count
	q.count++
	q.push(e)
}
