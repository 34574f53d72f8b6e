package sim

import (
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// A waiter is an attempt's place in a limiter's queue.
type waiter struct {
	queue.Waiter
	engine *engine
	slot   int32
}

// Wake implements [queue.Waker]: the engine handles the waiter after its current call.
func (w *waiter) Wake() { w.engine.woken = append(w.engine.woken, w) }

// Recheck implements [queue.Waker].
func (w *waiter) Recheck() {
	w.RecheckDue, w.Told = false, w.RecheckAt
	w.engine.later(w.slot, recheck, time.Duration(w.Told))
}

// recheck asks the node whether a waiter may start, or its time in the queue is over.
func (e *engine) recheck(slot int32) {
	a := &e.attempts[slot]
	w, limiter := a.waiter, a.limiter
	if int64(e.now) < w.Told {
		return
	}
	e.fx = admit.Effects{}
	verdict := e.nodes[limiter].Recheck(&w.Waiter, false, int64(e.now), &e.fx)
	e.after(limiter)
	switch {
	case verdict == reply.Waiting:
		if at := e.now + w.Patience(int64(e.now)); at < a.began+e.slo(a) {
			e.later(slot, recheck, at)
		}
	case e.attempts[slot].waiter == w:
		e.served(w)
	}
}

func (e *engine) wait(slot int32) {
	a := &e.attempts[slot]
	client := &e.scenario.Clients[a.client]
	w := e.waiter()
	*w = waiter{Waiter: queue.Waiter{Owner: w, Weight: e.weight(a), Lane: client.Priority}, engine: e, slot: slot}
	ends := a.began + e.slo(a)
	if !client.Untold {
		w.Deadline = int64(ends)
	}
	a.stage, a.waiter = waits, w
	e.fx = admit.Effects{}
	verdict := e.nodes[a.limiter].Join(&w.Waiter, int64(e.now), &e.fx)
	if verdict != reply.Waiting {
		e.served(w)
	} else {
		a.timed = true
		e.later(slot, deadline, ends+1)
		if expires := e.now + w.Patience(int64(e.now)); expires < ends {
			e.later(slot, recheck, expires)
		}
	}
	e.after(a.limiter)
}

func (e *engine) waiter() *waiter {
	if last := len(e.waiters) - 1; last >= 0 {
		w := e.waiters[last]
		e.waiters = e.waiters[:last]
		return w
	}
	return &waiter{}
}

// served continues an attempt whose waiter was answered.
func (e *engine) served(w *waiter) {
	a := &e.attempts[w.slot]
	a.stage, a.waiter = asking, nil
	switch w.Verdict {
	case reply.Admitted:
		a.ticket = w.Ticket
		e.dispatch(w.slot)
	case reply.Cancelled:
		e.record.cancelled(&a.request)
		e.failed(w.slot, 0)
	default:
		e.refused(w.slot, time.Duration(w.RetryAfter))
	}
	e.waiters = append(e.waiters, w)
}

// leave removes an attempt from the queue.
func (e *engine) leave(slot int32) {
	a := &e.attempts[slot]
	w, limiter := a.waiter, a.limiter
	e.fx = admit.Effects{}
	e.nodes[limiter].Leave(&w.Waiter, reply.Cancelled, int64(e.now), &e.fx)
	e.after(limiter)
	if e.attempts[slot].waiter == w { // unless it was answered, and so woken, at the same instant
		e.served(w)
	}
}
