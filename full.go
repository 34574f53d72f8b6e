package weir

import (
	"context"
	"sync"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// Full reports whether to refuse work before any of it is read. A tap of a gRPC server needs this,
// and a proxy that has not read the body. Full takes no slot and no place in the queue.
//
// The error is the one that [Limiter.Acquire] would return now for the priority, the tenant and the
// deadline of ctx. It is a refusal like any other: it is counted, reported as an event, and seen by
// the law. So the work must not go on to Acquire, which would refuse it a second time. If ctx has
// ended, the work counts as cancelled instead.
//
// A nil error says that Acquire would admit the work now, or let it queue. It is no promise,
// because other work may come first. In shadow mode a limiter is never full. Full asks the
// [Breaker], and reports [Ignore] to it at once.
//
// Full does not allocate unless it refuses, or its breaker does. A nil ctx counts as
// context.Background.
func (l *Limiter) Full(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return l.refuse(ctx, l.cancel())
	}
	w := inquirers.Get().(*queue.Waiter)
	defer inquirers.Put(w)
	*w = queue.Waiter{Weight: 1}
	at := now()
	describe(ctx, w, at)
	if cold := l.config.Load().cold; cold != nil {
		w.Tenant = tenantHash(ctx)
		allowed, no := l.ask(ctx, cold.breaker)
		if no.verdict != reply.Admitted {
			return l.refuse(ctx, no)
		}
		allowed.report(Ignore)
	}
	var fx admit.Effects
	verdict := l.node.Full(w, at, &fx)
	l.after(&fx)
	if verdict.Refused() {
		return l.refuse(ctx, refusal{verdict, w.RetryAfter, w.Seq})
	}
	return nil
}

// inquirers has the waiters that Full asks with. They are pooled, because a waiter passed to a
// queue lives on the heap.
var inquirers = sync.Pool{New: func() any { return new(queue.Waiter) }}
