package sim

import "time"

// An event is scheduled for one attempt at a time. An event of an earlier turn of its slot
// is ignored when it comes up.
type event struct {
	at    time.Duration
	order uint32 // among events of the same instant
	turn  uint32 // of the attempt's slot
	slot  int32
	kind  eventKind
}

type eventKind uint8

const (
	recheck  eventKind = iota // it looks whether its time in the limiter's queue is over
	deadline                  // its client gives up: just after the SLO, because an answer at the SLO is in time
	answer                    // the answer arrives
	retry                     // it is tried again
)

// events is a 4-ary heap of events, the next one on top.
type events struct {
	heap  []event
	count uint32
}

func (e event) before(o event) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

func (q *events) next() time.Duration {
	if len(q.heap) == 0 {
		return Never
	}
	return q.heap[0].at
}

func (q *events) push(e event) {
	e.order = q.count
	q.count++
	i := len(q.heap)
	q.heap = append(q.heap, e)
	for i > 0 {
		parent := (i - 1) / 4
		if q.heap[parent].before(e) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

func (q *events) pop() event {
	top, last := q.heap[0], len(q.heap)-1
	e := q.heap[last]
	q.heap = q.heap[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= last {
			break
		}
		for child := least + 1; child < min(4*i+5, last); child++ {
			if q.heap[child].before(q.heap[least]) {
				least = child
			}
		}
		if e.before(q.heap[least]) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = e
	return top
}
