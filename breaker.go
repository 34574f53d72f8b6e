package weir

import (
	"context"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

// A Breaker forbids work while its downstream is broken. A limiter with a breaker
// ([Config].Breaker) asks it before the work may take a slot or a place in the queue; work
// that it does not allow is refused at once, with [ErrBreakerOpen]. Allowed work goes through
// the limiter like any other work, including the probes of a half-open breaker.
//
// The limiter asks again when work leaves the queue, so that waiting work does not run into a
// downstream that broke meanwhile.
//
// Both calls must be safe for concurrent use and must not block. In shadow mode
// a breaker that does not allow the work is reported and otherwise ignored.
type Breaker interface {
	// Allow returns an error if the work may not start. The context is that of the work, with
	// its tenant, its priority and its trace. Otherwise done is called exactly once, with the
	// outcome that the limiter counts. If the limiter refused the work or its caller left,
	// the outcome is [Ignore], and the breaker must not count it. A nil done is not called.
	Allow(ctx context.Context) (done func(Outcome), err error)
}

// acquireWithBreaker is acquire with the permission of a breaker.
func (l *Limiter) acquireWithBreaker(ctx context.Context, tenant uint16, weight int, b Breaker) (p Permit, err error) {
	done, err := l.ask(ctx, b)
	if err != nil {
		return Permit{}, err
	}
	handedOut := false
	defer func() {
		if handedOut {
			return
		}
		p.Release()
		p = Permit{}
		if done != nil {
			done(Ignore)
		}
	}()
	p, err = l.acquire(ctx, tenant, weight)
	if err == nil && p.Waited() > 0 {
		first := done
		done = nil
		first(Ignore)
		done, err = l.ask(ctx, b)
	}
	if err == nil {
		p.tell(done)
		handedOut = true
	}
	return p, err
}

func (l *Limiter) tryAcquireWithBreaker(ctx context.Context, tenant uint16, b Breaker) (p Permit, ok bool) {
	done, err := l.ask(ctx, b)
	if err != nil {
		return Permit{}, false
	}
	defer func() {
		if !ok {
			done(Ignore)
		}
	}()
	if p, ok = l.tryAcquire(ctx, tenant); ok {
		p.tell(done)
	}
	return p, ok
}

// ask returns the function to call with the outcome, or the refusal.
func (l *Limiter) ask(ctx context.Context, b Breaker) (done func(Outcome), err error) {
	done, err = b.Allow(ctx)
	if err == nil {
		if done == nil {
			done = func(Outcome) {}
		}
		return done, nil
	}
	var fx admit.Effects
	forbidden := l.node.Forbid(reply.BreakerOpen, now(), &fx)
	l.after(&fx, reply.Ticket{})
	if forbidden {
		return nil, l.refuse(reply.BreakerOpen, 0, fx.Seq)
	}
	return func(Outcome) {}, nil
}
