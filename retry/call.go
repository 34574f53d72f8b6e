package retry

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// An Answer is the result of an attempt.
type Answer struct {
	// Outcome is the outcome for the downstream. A [weir.Success] is not tried again, so a
	// Classify that returns an empty Answer causes no retry. The throttle takes a success and a
	// [weir.Failure] for accepted, [weir.Overloaded] and [weir.Timeout] for refused, and does not
	// count [weir.Ignore], for an attempt that was never sent or whose caller left. Without an
	// answer the outcome is Overloaded: from outside, overload looks like a broken connection.
	Outcome    weir.Outcome
	RetryAfter time.Duration // how long to stay away, as the downstream asked; 0 or less if it did not
	Final      bool          // it must not be tried again
}

// A Call is the attempts of one call: Begin, the attempt, Again, and if that allows it Wait,
// and once more. If a function is enough, use [Client.Do]. A Call must not be used
// concurrently. A nil context counts as context.Background.
type Call struct {
	client  *Client
	ticket  Ticket
	attempt int
	wait    time.Duration
}

// Call returns a call that has not begun.
func (c *Client) Call() *Call { return &Call{client: c} }

// Attempt returns the number of the attempt that began last, from 1, and 0 before the first.
func (c *Call) Attempt() int { return c.attempt }

// Begin begins an attempt, which must end with [Call.Again]. If the throttle refuses the
// first one, the error is a [*weir.RefusedError] with [weir.ReasonOverload], and the call is
// over; Again has approved each further one.
func (c *Call) Begin(ctx context.Context) error {
	cl := c.client
	if c.attempt > 0 {
		c.ticket = cl.throttle.sent(weir.PriorityFrom(ctx))
	} else if ticket, err := cl.throttle.TryAcquire(ctx); err == nil {
		c.ticket = ticket
	} else {
		cl.count.throttled.Add(1)
		return &weir.RefusedError{Limiter: cl.name, Reason: weir.ReasonOverload}
	}
	cl.count.attempts.Add(1)
	c.attempt++
	return nil
}

// Again ends the attempt and reports whether to make another one, after [Call.Wait].
func (c *Call) Again(ctx context.Context, a Answer) bool {
	ctx = cmp.Or(ctx, context.Background())
	cl := c.client
	c.ticket.Finish(a.Outcome)
	if a.Outcome == weir.Success {
		cl.budget.Deposit()
		return false
	}
	if a.Final || c.attempt >= cl.attempts || a.RetryAfter > cl.maxWait || ctx.Err() != nil {
		return false
	}
	c.wait = cl.pause(c.attempt, a.RetryAfter)
	if deadline, ok := ctx.Deadline(); ok && c.wait >= time.Until(deadline) {
		return false
	}
	if !cl.budget.Withdraw() {
		cl.count.overBudget.Add(1)
		return false
	}
	if !cl.throttle.approves(weir.PriorityFrom(ctx)) { // after the budget: a retry that it forbids is no request
		cl.count.throttled.Add(1)
		return false
	}
	cl.count.retries.Add(1)
	return true
}

// Wait waits until it is time for the next attempt, or returns the cause of the context's end.
func (c *Call) Wait(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause returns how long to wait after the nth attempt.
func (c *Client) pause(n int, after time.Duration) time.Duration {
	backoff := min(math.Ldexp(float64(c.backoff), n-1), float64(c.maxWait)) * (0.5 + rand.Float64())
	if after <= 0 {
		return time.Duration(backoff)
	}
	spread, _ := edge.RetryAfter(&weir.RefusedError{RetryAfter: after})
	return max(time.Duration(backoff), spread)
}
