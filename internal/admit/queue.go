package admit

import "github.com/weir-go/weir/internal/window"

// queue is where work waits. It exists once something had to, or if it knows tenants.
type queue struct {
	adaptive *adaptive // the discipline, nil for first in, first out
	extras   *extras   // nil until work with a deadline comes, or tenants are told apart
	lanes    []lane
	length   int32
	passed   int32 // turns in strict order since a lower lane was given one
}

// extras is what many queues do without, kept apart because queues are many.
type extras struct {
	service service
	tenants *tenants
}

// makeQueue gives the node its queue.
func (n *Node) makeQueue() {
	n.queue = &queue{lanes: make([]lane, max(1, int(n.conf.lanes)))}
	n.setDiscipline()
}

// extra returns the queue's extras, which exist once they were needed.
func (q *queue) extra() *extras {
	if q.extras == nil {
		q.extras = &extras{}
	}
	return q.extras
}

// setDiscipline follows the settings; those who wait keep their places.
func (n *Node) setDiscipline() {
	q := n.queue
	if n.conf.adaptive == (q.adaptive != nil) {
		return
	}
	q.adaptive = nil
	if n.conf.adaptive {
		q.adaptive = newAdaptive(n)
	}
}

// join puts w into its lane and returns Waiting, or says why not. It may answer
// other waiters to make room.
func (n *Node) join(w *Waiter, now int64, fx *Effects) Verdict {
	if a := n.queue.adaptive; a != nil {
		return a.join(n, w, now, fx)
	}
	return n.joinInOrder(w, now, fx)
}

// next returns the waiter whose turn it is, nil if nobody waits.
func (n *Node) next(now int64, fx *Effects) *Waiter {
	if a := n.queue.adaptive; a != nil {
		return a.next(n, now, fx)
	}
	return n.first()
}

func (n *Node) queued() int {
	if n.queue == nil {
		return 0
	}
	return int(n.queue.length)
}

// Join answers the waiter if that is possible at once, and otherwise lets it
// queue: then its owner is woken when it is answered, unless it leaves before.
func (n *Node) Join(w *Waiter, now int64, fx *Effects) Verdict {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	w.joined = now
	if n.flags&(shadow|closed) == shadow {
		n.acquireInShadow(&w.ticket, w.Tenant, w.Weight, now, true, fx)
		w.verdict = Admitted
		return Admitted
	}
	verdict := n.consider(w.Weight, true, now, fx)
	if verdict == MustWait {
		verdict = n.enqueue(w, now, fx)
	}
	switch {
	case verdict == Admitted:
		n.dispatch(w, now)
	case verdict.Refused():
		n.decline(w, verdict)
	}
	w.nudged = true // its owner is about to hear
	if n.inflight < int64(n.limit) || n.member != nil {
		n.serve(now, fx) // it may go ahead of heavier work
	}
	w.nudged, w.heard = false, w.remind
	return verdict
}

func (n *Node) enqueue(w *Waiter, now int64, fx *Effects) Verdict {
	if n.queue == nil {
		n.makeQueue()
	}
	n.shuffleTenants(now)
	w.Lane = min(max(w.Lane, 0), len(n.queue.lanes)-1)
	w.expires = now + n.conf.queueTimeout
	if w.Deadline == 0 {
		w.Deadline = noDeadline
	}
	w.latest = noDeadline
	w.verdict = Waiting
	verdict := n.join(w, now, fx)
	w.remind = w.expires
	return verdict
}

// insert puts w at the end of its lane.
func (n *Node) insert(w *Waiter) {
	q := n.queue
	q.lanes[w.Lane].push(w, byLane)
	if q.adaptive != nil {
		q.adaptive.tiers[w.Lane].push(w)
	}
	if t := n.tenants(); t != nil {
		t.join(w)
	}
	q.length++
	n.flags.set(waiting, true)
	n.weigh(w.Lane, w.Weight)
}

// unlink takes w out of the queue.
func (n *Node) unlink(w *Waiter) {
	q := n.queue
	q.lanes[w.Lane].remove(w, byLane)
	if q.adaptive != nil {
		q.adaptive.tiers[w.Lane].remove(w)
	}
	if t := n.tenants(); t != nil {
		t.leave(w)
	}
	q.length--
	n.flags.set(waiting, q.length > 0)
	n.weigh(w.Lane, -w.Weight)
}

// Leave is how the owner of a waiter gives up: because its caller is gone, or
// because its time in the queue is up. A waiter that was answered meanwhile
// keeps its answer, and its owner is woken as ever; but if it was admitted for a
// caller that is gone, the slot and what it used of the pace go on to the next.
// Totals never fall, so that one counts as admitted and ignored.
func (n *Node) Leave(w *Waiter, why Verdict, now int64, fx *Effects) Verdict {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	switch {
	case w.verdict == Waiting:
		if why == QueueTimeout {
			why = w.expiry()
		}
		n.unlink(w)
		n.decline(w, why)
	case w.verdict == Admitted && why == Cancelled:
		w.verdict = Cancelled
		n.end(&w.ticket, now, window.Ignore)
		n.owe(-w.Weight)
	default:
		why = w.verdict
	}
	n.serve(now, fx)
	return why
}

// Remind is what the owner of a waiter calls when its Patience is over. A waiter
// whose time in the queue is up leaves it; one that a pace holds back looks whether
// its turn has come, and goes on waiting if not.
func (n *Node) Remind(w *Waiter, now int64, fx *Effects) Verdict {
	n.lock()
	defer n.unlock()
	return n.look(w, w.nudged, now, fx)
}

// Look is what the owner of a waiter calls when it was nudged. It is Remind, after
// which the waiter may be nudged again.
func (n *Node) Look(w *Waiter, now int64, fx *Effects) Verdict {
	n.lock()
	defer n.unlock()
	return n.look(w, false, now, fx)
}

// look answers the owner of w, on the way to whom there may still be a nudge.
func (n *Node) look(w *Waiter, nudged bool, now int64, fx *Effects) Verdict {
	now = n.advance(now, fx)
	if w.verdict == Waiting && now >= w.expires {
		n.unlink(w)
		n.decline(w, w.expiry())
	}
	w.remind, w.nudged = w.expires, true
	n.serve(now, fx)
	w.nudged, w.heard = nudged, w.remind
	return w.verdict
}

// Cancel counts a request whose caller was gone before it could ask.
func (n *Node) Cancel(now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	n.advance(now, fx)
	n.pressed().turnAway(Cancelled)
}

// decline answers a waiter that is in no lane any more with anything but
// Admitted.
func (n *Node) decline(w *Waiter, why Verdict) {
	w.verdict = why
	if why == Cancelled {
		n.pressed().turnAway(Cancelled)
		return
	}
	w.retryAfter, w.seq = n.refuse(why, w.Weight), n.nextEvent()
}

// reject declines a waiter in the queue and has its owner told.
func (n *Node) reject(w *Waiter, why Verdict, fx *Effects) {
	n.unlink(w)
	n.decline(w, why)
	fx.Woken.add(w)
}

// dispatch starts w's work. Its latency counts from here: time in the queue
// says nothing about the downstream.
func (n *Node) dispatch(w *Waiter, now int64) {
	w.verdict = Admitted
	n.startFor(&w.ticket, w.Tenant, w.Weight, now)
	if waited := now - w.joined; waited > 0 {
		n.bookWait(waited)
		n.meter.Queued(waited)
		w.ticket.waited = waited
	}
}

// serve hands free slots to waiters, here and in the rest of the group, and ends
// a shutdown when nothing is left.
func (n *Node) serve(now int64, fx *Effects) {
	for n.serveOne(now, fx) {
	}
	if n.flags&shadow != 0 {
		n.serveVirtual(now, fx)
	}
	if n.member != nil {
		n.member.standInLine(now, fx)
		n.member.group.serve(now, fx)
	}
	n.endDrain()
}

// serveOne answers one waiter, if its turn has come.
func (n *Node) serveOne(now int64, fx *Effects) bool {
	if n.queued() == 0 {
		return false
	}
	w := n.next(now, fx)
	switch {
	case w == nil:
		return false
	case now >= w.expires:
		n.reject(w, w.expiry(), fx)
	case n.tooHeavy(w.Weight):
		n.reject(w, TooHeavy, fx)
	case !n.inTime(w, now):
		n.reject(w, Deadline, fx)
	case !n.fits(w.Weight):
		n.remindSooner(w, now, fx)
		return false
	default:
		n.unlink(w)
		n.took(w)
		n.dispatch(w, now)
		fx.Woken.add(w)
	}
	return true
}
