package weir

import (
	"errors"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

// A Permit represents one piece of admitted work. Give it back with Done, DoneWith, Finish or
// Release. It is a small value and may be copied: all copies represent the same work, and only the
// first call that gives back any copy has an effect. All methods are safe for concurrent use. The
// zero Permit has been given back.
type Permit struct {
	limiter *Limiter
	ticket  reply.Ticket
	cold    *permitCold // nil for most
}

// permitCold is the part of a permit for work that waited, or whose outcome goes to a breaker
// or an exemplar.
type permitCold struct {
	waited time.Duration
	done   permission // nil without a breaker or an exemplar
}

// Done gives the permit back and reports the outcome of the work: err is classified by
// [Config].Classify, and the latency of a success is measured. Note that `defer
// permit.Done(err)` reads err too early; see [Permit.DoneWith]. For work that its caller
// cancelled with a cause, pass ctx.Err(): unlike [Limiter.Do], Done cannot distinguish the
// cause from a failure.
func (p Permit) Done(err error) {
	if p.limiter == nil {
		return
	}
	classify := p.limiter.config.Load().classify
	if classify == nil {
		if err == nil {
			p.Finish(Success)
			return
		}
		classify = Classify
	}
	outcome := Failure // in case classify panics, or a method of err does
	defer func() { p.finish(outcome, err) }()
	outcome = classify(err)
}

// DoneWith is Done for use with defer: it reads *err, which may be nil, when it runs. Work
// that panics counts as a failure, and the panic continues. Defer DoneWith itself, not a function
// that calls it.
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
	if err != nil {
		p.Done(*err)
	} else {
		p.Done(nil)
	}
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
	p.limiter.after(&fx)
}

// finishWithBreaker also reports the outcome to the breaker, even if a hook or a law panics.
func (p Permit) finishWithBreaker(o Outcome) {
	var fx admit.Effects
	defer p.heard(&fx, o)
	p.limiter.node.Done(p.ticket, now(), o.known(), &fx)
	p.limiter.after(&fx)
}

// heard passes an outcome to the permission, if the limiter counted it.
func (p Permit) heard(fx *admit.Effects, o Outcome) {
	if fx.Heard {
		p.cold.done(Outcome(o.known()))
	}
}

// Pushback sets how long the downstream, which refused the work, asked to stay away: by
// Retry-After, or by RetryInfo of gRPC. The permit must still be given back, with [Overloaded].
// Done and [Limiter.Do] make both calls for a [*RefusedError].
//
// Once the downstream has refused all work for a second, and 32 pieces of work in a row, the
// limiter itself refuses work ([ErrPushback]) until the time has passed, and for at most 30 s.
// Meanwhile it sends one piece of work in each tenth of the time. Once such a piece succeeds or
// fails, the limiter sends all work again. A time of 0 or less changes nothing.
func (p Permit) Pushback(after time.Duration) {
	if p.limiter != nil && after > 0 {
		p.limiter.node.Pushback(after, now())
	}
}

// finish gives the permit back and applies the pushback in err.
func (p Permit) finish(o Outcome, err error) {
	if o == Overloaded {
		defer p.Finish(o) // also if a method of err panics
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			p.Pushback(refused.RetryAfter)
		}
		return
	}
	p.Finish(o)
}

// Measure reports the outcome of the work and its latency up to now to the limiter and the breaker.
// The permit holds its slots until it is given back, and then reports no second outcome. The work
// no longer counts for [Snapshot].Age. A second Measure, or a Measure after the permit is back,
// does nothing. An outcome out of range counts as [Ignore].
//
// Measure [Success] at the first byte of a response if the client decides how long the rest takes.
// Measure Ignore right after admission for a stream or a long poll, whose latency says nothing. The
// law finds its limit for work before its Measure. Slots that work holds after its Measure come on
// top of that limit, up to [Config].Max. With law.Fixed the limit bounds all work. A [Change] has
// the law's limit.
func (p Permit) Measure(o Outcome) {
	if p.limiter == nil {
		return
	}
	var fx admit.Effects
	if p.cold != nil && p.cold.done != nil {
		defer p.heard(&fx, o)
	}
	p.limiter.node.Measure(p.ticket, now(), o.known(), &fx)
	p.limiter.after(&fx)
}

// SetWeight changes at once how many slots the work takes, from 1 to 1,000,000,000. Use it for work
// whose cost turns out to differ from its weight at admission, as the cost of rows or tokens does.
// Slots that the work gives up go to waiters. If the work takes more slots, the work in flight may
// exceed the limit. Running work then goes on, and no work starts until enough running work has
// ended. After the permit is back, SetWeight does nothing.
//
// A weight out of range is an error that matches [ErrConfig], and changes nothing.
func (p Permit) SetWeight(slots int) error {
	if err := checkWeight(slots); err != nil || p.limiter == nil {
		return err
	}
	var fx admit.Effects
	p.limiter.node.SetWeight(p.ticket, slots, now(), &fx)
	p.limiter.after(&fx)
	return nil
}

// Release gives the permit back and reports no outcome to the law.
func (p Permit) Release() { p.Finish(Ignore) }

// Waited returns how long the work queued before it was admitted, also once the permit is back.
func (p Permit) Waited() time.Duration {
	if p.cold == nil {
		return 0
	}
	return p.cold.waited
}

// tell makes the permit call done with the outcome of its work.
func (p *Permit) tell(done permission) {
	if done == nil {
		return
	}
	if p.cold == nil {
		p.cold = &permitCold{}
	}
	p.cold.done = done
}
