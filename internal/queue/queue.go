package queue

import "github.com/weir-go/weir/internal/reply"

// A Queue holds the waiting work of one node. It is not safe for concurrent use. The reading
// methods of a nil Queue answer as for an empty one.
type Queue struct {
	discipline discipline
	cold       *cold // nil until work with a deadline comes or tenants are set
	lanes      [Lanes]lane
	weights    [Lanes]int64 // waiting in each lane
	length     int32
	order      Order
	picks      uint8 // in strict order since a lower lane was picked
}

// cold is the state that many queues do not need. It is separate because a process may have many
// queues, which should be small.
type cold struct {
	service service
	given   given
	tenants *tenants // nil until there is fairness between tenants
}

// New returns an empty queue.
func New(order Order) *Queue { return &Queue{order: order, discipline: orders[order].start()} }

// coldPart allocates the rarely used state on first use.
func (q *Queue) coldPart() *cold {
	if q.cold == nil {
		q.cold = &cold{}
	}
	return q.cold
}

// SetOrder changes the order; the waiters keep their places. If the new order gives a waiter less
// time, its owner must look again.
func (q *Queue) SetOrder(order Order, v View, woken *Woken) {
	if order == q.order {
		return
	}
	q.order, q.discipline = order, orders[order].start()
	if q.cold != nil {
		q.cold.given = given{}
	}
	q.each(func(w *Waiter) {
		q.discipline.screen(w, q.outlook(w, v))
		q.discipline.added(w)
		if w.expires < w.RecheckAt {
			w.RecheckAt = w.expires
			woken.Recheck(w)
		}
	})
}

// each calls do for all waiters. No waiter may leave meanwhile.
func (q *Queue) each(do func(*Waiter)) {
	for i := range q.lanes {
		for w := range q.lanes[i].all(byLane) {
			do(w)
		}
	}
}

// Len returns the number of waiters.
func (q *Queue) Len() int {
	if q == nil {
		return 0
	}
	return int(q.length)
}

// Next returns the waiter that is served next, nil if there is none. It may evict other waiters.
func (q *Queue) Next(v View) (next *Waiter, evicted Chain) {
	q.dropLate(v.Now, &evicted)
	if i := q.pickLane(); i >= 0 {
		next = q.discipline.next(q.line(i), v.Now)
	}
	return next, evicted
}

// Oldest returns the oldest waiter of the picked lane and tenant, nil if nothing waits.
func (q *Queue) Oldest() *Waiter {
	if i := q.pickLane(); i >= 0 {
		return q.line(i).oldest()
	}
	return nil
}

// Full reports whether one more waiter would exceed the size, in an order that evicts nothing but
// expired waiters.
func (q *Queue) Full(size int32) bool { return orders[q.order].size == 0 && q.length >= size }

// Remove takes w out of the queue.
func (q *Queue) Remove(w *Waiter) {
	q.unlink(w)
	q.discipline.removed(w)
}

// link puts w at the end of its lane without notifying the order.
func (q *Queue) link(w *Waiter) {
	q.lanes[w.Lane].push(w, byLane)
	if t := q.tenants(); t != nil {
		t.join(w)
	}
	q.count(w, 1)
}

// unlink is Remove without notifying the order.
func (q *Queue) unlink(w *Waiter) {
	q.lanes[w.Lane].remove(w, byLane)
	if t := q.tenants(); t != nil {
		t.leave(w)
	}
	q.count(w, -1)
}

func (q *Queue) count(w *Waiter, by int32) {
	q.length += by
	q.weights[w.Lane] += int64(by) * int64(w.Weight)
}

// Take takes w out of the queue because it is served.
func (q *Queue) Take(w *Waiter) {
	q.Remove(w)
	q.recordService(w)
}

// dropLate evicts the waiters that are late in this order.
func (q *Queue) dropLate(now int64, evicted *Chain) {
	for w := q.discipline.late(q.lanes[:], now); w != nil; w = q.discipline.late(q.lanes[:], now) {
		q.evict(w, w.Expiry(), evicted)
	}
}

// Expire evicts the waiters whose time is up but whose own timer has not fired yet, so that
// they take no place from a newcomer.
func (q *Queue) Expire(now int64) (evicted Chain) {
	for i := range q.lanes {
		l := &q.lanes[i]
		for w := l.oldest(byLane); w != nil && now >= w.expires; w = l.oldest(byLane) {
			q.evict(w, w.Expiry(), &evicted)
		}
	}
	return evicted
}

// Clear evicts all waiters with the verdict, the oldest of the lowest lane first.
func (q *Queue) Clear(why reply.Verdict) (evicted Chain) {
	for i := Lanes - 1; i >= 0; i-- {
		for w := q.lanes[i].oldest(byLane); w != nil; w = q.lanes[i].oldest(byLane) {
			q.evict(w, why, &evicted)
		}
	}
	return evicted
}

// Rest makes an empty queue forget its picks, and reports whether it has no more state than a new
// queue.
func (q *Queue) Rest() bool {
	if q.order == FIFO && q.cold == nil {
		return true
	}
	q.forgetPicks()
	return false
}

// TurnBack forgets measurements, because the clock was turned back.
func (q *Queue) TurnBack() {
	if q.cold != nil {
		q.cold.service = service{}
	}
}
