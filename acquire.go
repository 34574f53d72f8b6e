package weir

import (
	"context"
	"fmt"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/reply"
)

// Acquire returns a permit for one piece of work, waiting in the queue if there
// is one. The caller gives it back with Done, DoneWith or Release.
//
// The error matches [ErrRefused] if the work was refused. If ctx ended first the
// error matches context.Cause(ctx) instead and is not a refusal. A nil ctx counts
// as context.Background. It does not allocate unless it has to wait or refuse.
func (l *Limiter) Acquire(ctx context.Context) (Permit, error) { return l.enter(ctx, 1) }

// AcquireN is Acquire for work that takes weight slots instead of one. A weight
// above the limit is refused with [ErrTooHeavy], so Config.Initial should be at
// least the largest weight; one below 1 is an error that matches [ErrConfig].
func (l *Limiter) AcquireN(ctx context.Context, weight int) (Permit, error) {
	if err := checkWeight(weight); err != nil {
		return Permit{}, err
	}
	return l.enter(ctx, weight)
}

func checkWeight(slots int) error {
	if slots < 1 || slots > maxSlots {
		return invalid("weight", slots, fmt.Sprintf("1 to %d", maxSlots))
	}
	return nil
}

func (l *Limiter) enter(ctx context.Context, weight int) (Permit, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		l.leave()
		return Permit{}, l.cancelled(ctx)
	}
	if cold := l.config.Load().cold; cold != nil {
		return l.enterCold(ctx, weight, cold)
	}
	return l.acquire(ctx, 0, weight)
}

// enterCold is enter for a limiter with a cold setting.
func (l *Limiter) enterCold(ctx context.Context, weight int, c *coldConfig) (p Permit, err error) {
	if c.breaker != nil {
		p, err = l.acquireWithBreaker(ctx, c.tenant(ctx), weight, c.breaker)
	} else {
		p, err = l.acquire(ctx, c.tenant(ctx), weight)
	}
	if err == nil {
		c.sample(ctx, &p)
	}
	return p, err
}

func (l *Limiter) acquire(ctx context.Context, tenant uint16, weight int) (Permit, error) {
	var fx admit.Effects
	var ticket reply.Ticket
	work := admit.Work{Weight: weight, Tenant: tenant, Deadline: deadline.Of(ctx)}
	verdict := l.node.Acquire(&ticket, work, now(), &fx)
	l.after(&fx, ticket)
	switch verdict {
	case reply.Admitted:
		return Permit{limiter: l, ticket: ticket}, nil
	case reply.MustWait:
		return l.wait(ctx, tenant, weight)
	default:
		return Permit{}, l.refuse(verdict, fx.RetryAfter, fx.Seq)
	}
}

// TryAcquire is Acquire for work that will not wait. If there is no free slot, ok is false and the
// work counts as refused. If ctx has ended already, ok is false too and the work counts as
// cancelled. A nil ctx counts as context.Background. Only a Breaker or an exemplar makes TryAcquire
// allocate.
func (l *Limiter) TryAcquire(ctx context.Context) (p Permit, ok bool) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		l.leave()
		return Permit{}, false
	}
	if cold := l.config.Load().cold; cold != nil {
		return l.tryEnterCold(ctx, cold)
	}
	return l.tryAcquire(ctx, 0)
}

// tryEnterCold is enterCold for work that will not wait.
func (l *Limiter) tryEnterCold(ctx context.Context, c *coldConfig) (p Permit, ok bool) {
	if c.breaker != nil {
		p, ok = l.tryAcquireWithBreaker(ctx, c.tenant(ctx), c.breaker)
	} else {
		p, ok = l.tryAcquire(ctx, c.tenant(ctx))
	}
	if ok {
		c.sample(ctx, &p)
	}
	return p, ok
}

func (l *Limiter) tryAcquire(ctx context.Context, tenant uint16) (Permit, bool) {
	work := admit.Work{Weight: 1, Tenant: tenant, Deadline: deadline.Of(ctx)}
	var fx admit.Effects
	var ticket reply.Ticket
	verdict := l.node.TryAcquire(&ticket, work, now(), &fx)
	l.after(&fx, ticket)
	if verdict == reply.Admitted {
		return Permit{limiter: l, ticket: ticket}, true
	}
	if conf := l.config.Load(); conf.onEvent != nil {
		l.reportRefusal(conf, verdict, fx.RetryAfter, fx.Seq)
	}
	return Permit{}, false
}
