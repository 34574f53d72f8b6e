package weir

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/reply"
)

// Acquire returns a permit for one piece of work, waiting in the queue if there
// is one. The caller gives it back with Done, DoneWith, Finish or Release.
//
// The error matches [ErrRefused] if the work was refused. If ctx ended first the error matches
// context.Cause(ctx) instead and is not a refusal. A nil ctx counts as context.Background. Acquire
// does not allocate unless it has to wait or refuse.
func (l *Limiter) Acquire(ctx context.Context) (Permit, error) {
	return l.acquire(ctx, admit.Work{Weight: 1})
}

// AcquireN is Acquire for work that takes weight slots instead of one. Work that is heavier than
// the current limit runs alone, once no other work runs, because the law may raise the limit only
// after work has run. A weight above [Config].Max, or above a limit of [law.Fixed], is refused with
// [ErrTooHeavy]. A weight below 1 or above 1,000,000,000 is an error that matches [ErrConfig].
func (l *Limiter) AcquireN(ctx context.Context, weight int) (Permit, error) {
	if err := checkWeight(weight); err != nil {
		return Permit{}, err
	}
	return l.acquire(ctx, admit.Work{Weight: weight})
}

// TryAcquire is Acquire for work that will not wait. It is refused with [ErrLimitReached] if there
// is no free slot.
func (l *Limiter) TryAcquire(ctx context.Context) (Permit, error) {
	return l.acquire(ctx, admit.Work{Weight: 1, NoWait: true})
}

func (l *Limiter) acquire(ctx context.Context, w admit.Work) (Permit, error) {
	p, no := l.enter(ctx, w)
	if no.verdict == reply.Admitted {
		return p, nil
	}
	return Permit{}, l.refuse(ctx, no)
}

// A refusal says why work was not admitted. The zero refusal means that work was admitted.
type refusal struct {
	verdict    reply.Verdict // Cancelled if its caller is gone
	retryAfter int64
	seq        uint64
}

// enter returns a permit, or a refusal that its caller reports.
func (l *Limiter) enter(ctx context.Context, w admit.Work) (Permit, refusal) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return Permit{}, l.cancel()
	}
	if cold := l.config.Load().cold; cold != nil {
		return l.enterCold(ctx, w, cold)
	}
	return l.admit(ctx, w)
}

// enterCold is enter for a limiter with a cold setting.
func (l *Limiter) enterCold(ctx context.Context, w admit.Work, c *coldConfig) (Permit, refusal) {
	if c.tenants {
		w.Tenant = tenantHash(ctx)
	}
	if c.breaker != nil || c.exemplars != nil {
		return l.enterObserved(ctx, w, c)
	}
	return l.admit(ctx, w)
}

// enterObserved is enter for a limiter with a breaker or exemplars. If anything panics or calls
// runtime.Goexit, the permit is given back and the breaker gets Ignore.
func (l *Limiter) enterObserved(ctx context.Context, w admit.Work, c *coldConfig) (p Permit, no refusal) {
	allowed, no := l.ask(ctx, c.breaker)
	if no.verdict != reply.Admitted {
		return Permit{}, no
	}
	handedOut := false
	defer func() {
		if !handedOut {
			defer allowed.report(Ignore) // also if a hook panics
			p.Release()
			p = Permit{}
		}
	}()
	p, no = l.admit(ctx, w)
	if p.Waited() > 0 {
		first := allowed
		allowed = nil
		first.report(Ignore)
		allowed, no = l.ask(ctx, c.breaker)
	}
	if no.verdict != reply.Admitted {
		return p, no
	}
	p.tell(c.exemplars.sample(ctx, p.ticket.Record.Start, allowed))
	handedOut = true
	return p, no
}

func (l *Limiter) admit(ctx context.Context, w admit.Work) (Permit, refusal) {
	w.Deadline = deadline.Of(ctx)
	var fx admit.Effects
	var ticket reply.Ticket
	verdict := l.node.Acquire(&ticket, w, now(), &fx)
	if !fx.None() {
		l.finish(&fx, ticket)
	}
	switch verdict {
	case reply.Admitted:
		return Permit{limiter: l, ticket: ticket}, refusal{}
	case reply.MustWait:
		return l.wait(ctx, w)
	default:
		return Permit{}, refusal{verdict, fx.RetryAfter, fx.Seq}
	}
}

// cancel counts work whose context had ended before the limiter could decide.
func (l *Limiter) cancel() refusal {
	var fx admit.Effects
	l.node.Forbid(reply.Cancelled, now(), &fx)
	l.after(&fx)
	return refusal{verdict: reply.Cancelled}
}

func (l *Limiter) refuse(ctx context.Context, no refusal) error {
	conf := l.config.Load()
	if no.verdict == reply.Cancelled {
		return fmt.Errorf("weir: limiter %q: cancelled before it was admitted: %w", conf.name, context.Cause(ctx))
	}
	conf.tellRefusal(no)
	return &RefusedError{Limiter: conf.name, Reason: Reason(no.verdict), RetryAfter: time.Duration(no.retryAfter)}
}

func checkWeight(slots int) error {
	if slots < 1 || slots > maxSlots {
		return invalid("weight", slots, fmt.Sprintf("1 to %d", maxSlots))
	}
	return nil
}
