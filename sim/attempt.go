package sim

import (
	"cmp"
	"math"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// An attempt is one try to get an answer to a request. Attempts are stored in slots, which are
// reused. The number of the slot is the number of the server's job.
type attempt struct {
	request
	began  time.Duration
	number int // 0 for the first attempt
	turn   uint32

	stage  stage
	timed  bool // a deadline event is scheduled
	gone   bool // its client gave up
	failed bool
	pushed bool // the server refused it
	ticket reply.Ticket
	waiter *waiter // set while it waits

	jobs jobs // set for a request of several jobs, and for each of these jobs
}

type stage uint8

const (
	asking    stage = iota // not admitted yet, or waiting for a retry
	waits                  // in a limiter's queue
	runs                   // on the server
	answering              // its answer is in transit
)

// slo returns how long the client of an attempt waits.
func (e *engine) slo(a *attempt) time.Duration {
	return cmp.Or(a.slo, e.scenario.Clients[a.client].SLO)
}

// happen handles an event, unless the attempt has moved on since.
func (e *engine) happen(ev event) {
	a := &e.attempts[ev.slot]
	if a.turn != ev.turn {
		return
	}
	switch ev.kind {
	case recheck:
		if a.stage == waits {
			e.recheck(ev.slot)
		}
	case deadline:
		e.giveUp(ev.slot)
	case answer:
		e.answered(ev.slot)
	case retry:
		a.began = e.now
		e.attempt(ev.slot)
	}
}

func (e *engine) later(slot int32, kind eventKind, at time.Duration) {
	e.events.schedule(event{at: at, slot: slot, kind: kind, turn: e.attempts[slot].turn})
}

// arrive begins the first attempt of a request.
func (e *engine) arrive(r request) {
	client := &e.scenario.Clients[r.client]
	if b := client.Retry.Budget; b > 0 {
		e.budgets[r.client] = min(e.budgets[r.client]+b, 10)
	}
	e.record.of(&r).Requests++
	e.attempt(e.slot(attempt{request: r, began: e.now}))
}

func (e *engine) slot(a attempt) int32 {
	if last := len(e.free) - 1; last >= 0 {
		slot := e.free[last]
		e.free = e.free[:last]
		a.turn = e.attempts[slot].turn
		e.attempts[slot] = a
		return slot
	}
	e.attempts = append(e.attempts, a)
	return int32(len(e.attempts) - 1)
}

// release frees the slot of an attempt that has ended.
func (e *engine) release(slot int32) {
	e.attempts[slot].turn++
	e.attempts[slot].stage = asking
	e.free = append(e.free, slot)
}

// attempt asks a limiter to admit the attempt.
func (e *engine) attempt(slot int32) {
	a := &e.attempts[slot]
	e.record.of(&a.request).Attempts++
	if e.gated != nil {
		e.gated.ask(e, slot)
		return
	}
	node := e.nodes[a.limiter]
	e.fx = admit.Effects{}
	switch verdict := node.Acquire(&a.ticket, e.asks(a), int64(e.now), &e.fx); verdict {
	case reply.Admitted:
		e.dispatch(slot)
	case reply.MustWait:
		e.after(a.limiter)
		e.wait(slot)
		return
	default:
		e.refused(slot, time.Duration(e.fx.RetryAfter))
	}
	e.after(a.limiter)
}

func (e *engine) asks(a *attempt) admit.Work {
	w := admit.Work{Weight: e.weight(a)}
	if e.scenario.Clients[a.client].Deadlines {
		w.Deadline = int64(a.began + e.slo(a))
	}
	return w
}

// after applies the effects of a call of the node.
func (e *engine) after(limiter int32) {
	if e.fx.None() {
		return
	}
	if e.fx.Panic != nil {
		e.broken = e.fx.Panic
	}
	e.record.now.WouldRefuse += len(e.fx.Lapsed)
	if e.fx.WouldRefuse != reply.Admitted {
		e.record.now.WouldRefuse++
	}
	if e.fx.Change != nil {
		e.record.limit(e.now, limiter, e.fx.Change)
	}
	e.fx.Woken.Wake()
	for i := 0; i < len(e.woken); i++ {
		e.served(e.woken[i])
	}
	e.woken = e.woken[:0]
}

// dispatch starts the work on the server.
func (e *engine) dispatch(slot int32) {
	a := &e.attempts[slot]
	client, phase := &e.scenario.Clients[a.client], e.phase()
	work := a.work
	a.failed = a.luck < phase.Errors || phase.Down
	if a.failed {
		work = phase.ErrorTime
	}
	if !a.timed && (client.Cancel || client.Retry.Times > 0) {
		a.timed = true
		e.later(slot, deadline, a.began+e.slo(a)+1)
	}
	e.record.flow(e.now, e.weight(a))
	if a.pushed = !phase.Down && e.refuses(a, phase); a.pushed {
		a.failed, work = true, phase.ErrorTime
	}
	if phase.Down || a.pushed {
		a.stage = answering
		e.later(slot, answer, e.now+work)
		return
	}
	a.stage = runs
	e.door.serving += client.Weight
	e.start(slot, work)
}

// worked handles a job that the server has completed.
func (e *engine) worked(job Job) {
	slot, all := e.finished(int32(job))
	if !all {
		return
	}
	a := &e.attempts[slot]
	e.door.serving -= e.scenario.Clients[a.client].Weight
	if delay := e.phase().Delay + e.scenario.Clients[a.client].Slow; delay > 0 {
		a.stage = answering
		e.later(slot, answer, e.now+delay)
		return
	}
	e.answered(slot)
}

// answered ends an attempt after its work, even if its client has left.
func (e *engine) answered(slot int32) {
	a := &e.attempts[slot]
	client := &e.scenario.Clients[a.client]
	latency := e.now - a.began
	again := (a.failed || latency > e.slo(a)) && !a.gone
	outcome := window.Success
	switch {
	case a.pushed:
		outcome = window.Overloaded
		e.record.of(&a.request).Pushed++
	case a.failed:
		outcome = window.Failure
		e.record.of(&a.request).Failed++
	case latency > e.slo(a):
		if client.TimeoutAtSLO {
			outcome = window.Timeout
		} else if client.Leaves {
			outcome = window.Late
		}
		e.record.late(&a.request, latency)
	default:
		e.record.good(&a.request, latency)
	}
	e.done(slot, outcome)
	if again {
		e.failed(slot, 0)
	} else {
		e.release(slot)
	}
}

// done returns the slot to the limiter.
func (e *engine) done(slot int32, outcome window.Outcome) {
	e.record.flow(e.now, -e.weight(&e.attempts[slot]))
	if e.gated != nil {
		e.gated.tell(e, slot, outcome)
		return
	}
	a := &e.attempts[slot]
	limiter := a.limiter
	e.fx = admit.Effects{}
	if after := e.phase().Refuse.RetryAfter; after > 0 && outcome == window.Overloaded {
		e.nodes[limiter].Pushback(after, int64(e.now))
	}
	e.nodes[limiter].Done(a.ticket, int64(e.now), outcome, &e.fx)
	e.after(limiter)
}

// giveUp handles a client that stops waiting.
func (e *engine) giveUp(slot int32) {
	a := &e.attempts[slot]
	client := &e.scenario.Clients[a.client]
	switch {
	case a.stage == waits:
		e.leave(slot)
	case client.Cancel:
		if a.stage == runs {
			e.abandon(slot)
		}
		e.record.cancelled(&a.request)
		e.done(slot, window.Timeout)
		e.failed(slot, 0)
	case client.Retry.Times > 0:
		a.gone = true
		again := *a
		again.jobs = jobs{}
		e.failed(e.slot(again), 0)
	}
}

func (e *engine) refused(slot int32, after time.Duration) {
	a := &e.attempts[slot]
	e.record.refused(&a.request)
	e.failed(slot, after)
}

// failed ends an attempt without success. It schedules a retry if the policy of the client allows
// one.
func (e *engine) failed(slot int32, after time.Duration) {
	a := &e.attempts[slot]
	policy := &e.scenario.Clients[a.client].Retry
	allowed := a.number < policy.Times
	if allowed && policy.Budget > 0 {
		allowed = e.budgets[a.client] >= 1
		if allowed {
			e.budgets[a.client]--
		}
	}
	if !allowed {
		e.release(slot)
		return
	}
	pause := mul(mul(float64(policy.Backoff), math.Ldexp(1, a.number)), 0.5+e.retries.Float64())
	if policy.Heed {
		pause = max(pause, mul(float64(after), 1+e.retries.Float64()))
	}
	a.turn++ // cancels the events of the last attempt
	a.number++
	a.luck = e.retries.Float64()
	a.stage, a.timed, a.gone = asking, false, false
	e.later(slot, retry, e.now+nanoseconds(pause))
}
