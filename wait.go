package weir

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// A waiter is a goroutine that waits for its turn.
type waiter struct {
	queue.Waiter
	cold  permitCold    // of its permit
	ready chan answered // has room for the answer and one nudge, so that who sends never waits
}

type answered bool

// Wake tells the waiter that it was answered.
func (w *waiter) Wake() { w.ready <- true }

// Nudge tells the waiter to look again.
func (w *waiter) Nudge() { w.ready <- false }

// wait queues for a permit.
func (l *Limiter) wait(ctx context.Context, tenant uint16, weight int) (Permit, error) {
	w := &waiter{ready: make(chan answered, 2)}
	w.Owner, w.Weight, w.Tenant = w, weight, tenant
	at := now()
	describe(ctx, &w.Waiter, at)
	verdict := l.queue(ctx, w, at)
	switch verdict {
	case reply.Admitted:
		w.cold.waited = time.Duration(w.Queued)
		return Permit{limiter: l, ticket: w.Ticket, cold: &w.cold}, nil
	case reply.Cancelled:
		return Permit{}, l.cancelled(ctx)
	default:
		retryAfter, seq := w.Refusal()
		return Permit{}, l.refuse(verdict, retryAfter, seq)
	}
}

// queue returns what becomes of a waiter. Should a law or a hook panic, or exit, the waiter
// leaves the queue, or gives back the slot that it was given meanwhile.
func (l *Limiter) queue(ctx context.Context, w *waiter, at int64) reply.Verdict {
	answered := false
	defer func() {
		if !answered {
			var rest admit.Effects
			l.node.Leave(&w.Waiter, reply.Cancelled, now(), &rest)
			rest.Woken.Wake()
		}
	}()
	var fx admit.Effects
	verdict := l.node.Join(&w.Waiter, at, &fx)
	l.after(&fx, reply.Ticket{})
	if verdict == reply.Waiting {
		verdict = l.await(ctx, w)
	}
	answered = true
	return verdict
}

// await returns what becomes of a waiter in the queue.
func (l *Limiter) await(ctx context.Context, w *waiter) reply.Verdict {
	timer := time.NewTimer(w.Patience(now()))
	defer timer.Stop()
	for {
		var fx admit.Effects
		var verdict reply.Verdict
		select {
		case done := <-w.ready:
			if done {
				verdict, _ := w.Answer()
				return verdict
			}
			verdict = l.node.Look(&w.Waiter, true, now(), &fx)
		case <-ctx.Done():
			verdict = l.node.Leave(&w.Waiter, reply.Cancelled, now(), &fx)
		case <-timer.C:
			verdict = l.node.Look(&w.Waiter, false, now(), &fx)
		}
		l.after(&fx, reply.Ticket{})
		if verdict != reply.Waiting {
			return verdict
		}
		timer.Reset(w.Patience(now()))
	}
}

// leave counts a caller that is gone before it could ask.
func (l *Limiter) leave() {
	var fx admit.Effects
	l.node.Cancel(now(), &fx)
	l.after(&fx, reply.Ticket{})
}

func (l *Limiter) cancelled(ctx context.Context) error {
	return fmt.Errorf("weir: limiter %q: cancelled before it was admitted: %w",
		l.face.Load().name, context.Cause(ctx))
}
