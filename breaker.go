package weir

import (
	"context"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

// A Breaker forbids work while its downstream is broken. A limiter with a breaker
// ([Config].Breaker) asks the breaker before work may take a slot or a place in the queue. Work
// that the breaker does not allow is refused at once, with [ErrBreakerOpen]. Allowed work goes
// through the limiter like any other work, including the probes of a half-open breaker.
//
// The limiter asks again when work leaves the queue, so that waiting work does not run into a
// downstream that broke meanwhile.
//
// Both calls must be safe for concurrent use and must not block. In shadow mode the limiter reports
// work that the breaker does not allow, and admits it all the same.
type Breaker interface {
	// Allow returns an error if the work may not start. ctx is the context of the work, with its
	// tenant, its priority and its trace. Otherwise done is called exactly once, with the outcome
	// that the limiter counts. If the limiter refused the work or its caller left, the outcome is
	// [Ignore], and the breaker must not count it. A nil done is not called.
	Allow(ctx context.Context) (done func(Outcome), err error)
}

// A permission gets the outcome of the work that a breaker allowed. It is nil if no breaker and no
// exemplar needs the outcome.
type permission func(Outcome)

func (p permission) report(o Outcome) {
	if p != nil {
		p(o)
	}
}

// ask asks a breaker whether work may start. A nil breaker allows all work.
func (l *Limiter) ask(ctx context.Context, b Breaker) (permission, refusal) {
	if b == nil {
		return nil, refusal{}
	}
	done, err := b.Allow(ctx)
	if err == nil {
		return done, refusal{}
	}
	var fx admit.Effects
	var no refusal
	if l.node.Forbid(reply.BreakerOpen, now(), &fx) {
		no = refusal{verdict: reply.BreakerOpen, seq: fx.Seq}
	}
	l.after(&fx)
	return nil, no
}
