package weir

import (
	"errors"
	"reflect"
	"runtime"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

// A Permit stands for one piece of admitted work. Give it back with Done, DoneWith,
// Finish or Release. It is a small value and may be copied: all copies are the same
// work, and only the first call that gives it back, through any of them, does anything. All
// methods are safe for concurrent use. The zero Permit has been given back.
type Permit struct {
	limiter *Limiter
	ticket  reply.Ticket
	cold    *permitCold // nil for most
}

// permitCold is the part of a permit for work that waited, or whose outcome goes to a breaker or an
// exemplar how it ended.
type permitCold struct {
	waited time.Duration
	done   func(Outcome) // nil if there is nothing to tell
}

// Done gives the permit back and tells the limiter how the work ended: err is
// classified by [Config].Classify, and the latency of a success is measured. Note
// that `defer permit.Done(err)` reads err too early; see [Permit.DoneWith]. For
// work that its caller cancelled with a cause, pass ctx.Err(): unlike
// [Limiter.Do], Done cannot tell the cause from a failure.
func (p Permit) Done(err error) {
	if p.limiter == nil {
		return
	}
	classify := p.limiter.config.Load().classify
	if classify == nil {
		p.finish(Classify(err), err)
		return
	}
	outcome := Failure // should classify panic
	defer func() { p.finish(outcome, err) }()
	outcome = classify(err)
}

// DoneWith is Done for use with defer: it reads *err, which may be nil, when it
// runs. Work that panics counts as a failure, and the panic goes on; work that ends its
// goroutine (runtime.Goexit) counts as a failure too. That takes a defer of DoneWith itself,
// not of a function that calls it. To tell Goexit from success takes a look at the stack,
// which costs about 180 ns more than Done; [Limiter.Do] needs none.
//
//	defer permit.DoneWith(&err)
func (p Permit) DoneWith(err *error) {
	if p.limiter == nil { // of work that was not admitted, or of a throttle that is off
		return
	}
	if r := recover(); r != nil {
		p.Finish(Failure)
		panic(r)
	}
	switch {
	case err != nil && *err != nil:
		p.Done(*err)
	case exits():
		p.Finish(Failure)
	default:
		p.Done(nil)
	}
}

var goexit = reflect.ValueOf(runtime.Goexit).Pointer()

// exits reports whether runtime.Goexit runs the caller of exits as a deferred call.
func exits() bool {
	var pc [1]uintptr
	const callersCaller = 3 // of exits; 0 is runtime.Callers
	if runtime.Callers(callersCaller, pc[:]) == 0 {
		return false
	}
	f := runtime.FuncForPC(pc[0] - 1) // pc is where it returns to
	return f != nil && f.Entry() == goexit
}

// Finish is Done for work whose outcome is known without an error. An outcome
// out of range counts as Ignore.
func (p Permit) Finish(o Outcome) {
	if p.limiter == nil {
		return
	}
	if p.cold != nil && p.cold.done != nil {
		p.finishWithBreaker(o)
		return
	}
	var fx admit.Effects
	p.limiter.node.Done(p.ticket, now(), o.known(), &fx)
	p.limiter.after(&fx, reply.Ticket{})
}

// finishWithBreaker informs the breaker too, even if a hook panics or a law calls runtime.Goexit.
func (p Permit) finishWithBreaker(o Outcome) {
	var fx admit.Effects
	defer p.heard(&fx, o)
	p.limiter.node.Done(p.ticket, now(), o.known(), &fx)
	p.limiter.after(&fx, reply.Ticket{})
}

// heard passes an outcome to the breaker if it was the first one.
func (p Permit) heard(fx *admit.Effects, o Outcome) {
	if fx.Heard {
		p.cold.done(o)
	}
}

// Pushback says how long the downstream, which refused the work, asked to stay away: by
// Retry-After, or by RetryInfo of gRPC. The permit is still to be given back, with [Overloaded].
// Done and [Limiter.Do] do both for a [*RefusedError].
//
// Once the downstream has refused 32 pieces of work in a row, the limiter refuses work itself until
// that time ([ErrPushback]), and at most for 30 s. It sends one piece in each tenth of the time
// meanwhile, and all once one of them succeeds. A time of 0 or less changes nothing.
func (p Permit) Pushback(after time.Duration) {
	if p.limiter != nil && after > 0 {
		p.limiter.node.Pushback(after, now())
	}
}

// finish gives the permit back with the outcome of err.
func (p Permit) finish(o Outcome, err error) {
	if o == Overloaded {
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			p.Pushback(refused.RetryAfter)
		}
	}
	p.Finish(o)
}

// Measure reports the outcome of the work and its latency so far to the limiter and the breaker.
// The permit holds its slots until it is given back, which then reports no outcome, and the work
// has no age in [Snapshot].Age. Measuring again, or after the permit is back, does nothing. An
// outcome out of range counts as [Ignore].
//
// Measure [Success] at the first byte of a response if the rest takes as long as the client makes
// it. Measure Ignore right after admission for a stream or a long poll, whose latency says nothing.
// The law finds its limit for measured work, and slots that others hold come on top, up to
// [Config].Max; with law.Fixed the limit is for both. A [Change] has the limit that the law found.
func (p Permit) Measure(o Outcome) {
	if p.limiter == nil {
		return
	}
	var fx admit.Effects
	if p.cold != nil && p.cold.done != nil {
		defer p.heard(&fx, o)
	}
	p.limiter.node.Measure(p.ticket, now(), o.known(), &fx)
	p.limiter.after(&fx, reply.Ticket{})
}

// SetWeight changes how many slots the work takes, from 1 to 1,000,000,000, at once: for work that
// turns out to cost more or less than it was admitted for, as rows or tokens do. Slots that it no
// longer takes go to waiters. If it takes more, the work in flight may exceed the limit: nothing is
// interrupted, and nothing starts until enough has ended. On a permit that is back it does nothing.
//
// A weight out of range is an error that matches [ErrConfig], and changes nothing.
func (p Permit) SetWeight(slots int) error {
	if err := checkWeight(slots); err != nil || p.limiter == nil {
		return err
	}
	var fx admit.Effects
	p.limiter.node.SetWeight(p.ticket, slots, now(), &fx)
	p.limiter.after(&fx, reply.Ticket{})
	return nil
}

// Release gives the permit back and teaches the limiter nothing.
func (p Permit) Release() { p.Finish(Ignore) }

// Waited returns how long the work queued before it was admitted, also once the permit is back.
func (p Permit) Waited() time.Duration {
	if p.cold == nil {
		return 0
	}
	return p.cold.waited
}

// tell has the permit tell how its work ended.
func (p *Permit) tell(done func(Outcome)) {
	if p.cold == nil {
		p.cold = &permitCold{}
	}
	p.cold.done = done
}
