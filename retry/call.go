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
	// Outcome is the outcome for the downstream. A [weir.Success] is not tried again, so a Classify
	// that returns an empty Answer causes no retry. The throttle counts [weir.Success],
	// [weir.Failure] and [weir.Late] as accepted, and [weir.Overloaded] and [weir.Timeout] as
	// refused. It does not count [weir.Ignore]: use that for an attempt that was never sent or
	// whose caller left. Use Overloaded for an attempt without an answer: from outside, overload
	// looks like a broken connection.
	Outcome    weir.Outcome
	RetryAfter time.Duration // the wait that the downstream asked for; 0 or less if none
	Final      bool          // the call must not be tried again
}

// A Call makes the attempts of one call, for callers that read a reply before they can classify it.
// If a function can make a whole attempt, use [Client.Do]. A Call must not be used concurrently.
type Call struct {
	client  *Client
	attempt int
	wait    time.Duration // before the next attempt
}

// Call returns a call that has not begun.
func (c *Client) Call() *Call { return &Call{client: c} }

// Attempt returns the number of the attempt that began last. It counts from 1, and is 0 before the
// first attempt.
func (c *Call) Attempt() int { return c.attempt }

// Try waits for the time of the attempt, makes the attempt, and reports whether another attempt
// should follow. An error means that there was no attempt and that the call is over. It is a
// [*weir.RefusedError] with [weir.ReasonOverload] if the throttle refused the first attempt, or the
// cause of the context's end if the context ended during the wait. An attempt that panics is a
// failure. A nil context counts as context.Background.
func (c *Call) Try(ctx context.Context, attempt func() Answer) (again bool, err error) {
	ctx = cmp.Or(ctx, context.Background())
	ticket, err := c.begin(ctx)
	if err != nil {
		return false, err
	}
	answer := Answer{Outcome: weir.Failure, Final: true} // if attempt panics
	defer func() {
		ticket.Finish(answer.Outcome)
		again = c.again(ctx, answer)
	}()
	answer = attempt()
	return false, nil
}

func (c *Call) begin(ctx context.Context) (ticket Ticket, err error) {
	cl := c.client
	if c.attempt > 0 { // again has approved it
		if err := sleep(ctx, c.wait); err != nil {
			return ticket, err
		}
		ticket = Ticket{cl.throttle, weir.PriorityFrom(ctx)}
	} else if ticket, err = cl.throttle.TryAcquire(ctx); err != nil {
		cl.count.throttled.Add(1)
		return ticket, &weir.RefusedError{Limiter: cl.name, Reason: weir.ReasonOverload}
	}
	cl.count.attempts.Add(1)
	c.attempt++
	return ticket, nil
}

// again reports whether to make another attempt after this answer.
func (c *Call) again(ctx context.Context, a Answer) bool {
	cl := c.client
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
	if cl.throttle.refuses(weir.PriorityFrom(ctx)) { // after the budget: a retry that it forbids is no request
		cl.count.throttled.Add(1)
		return false
	}
	cl.count.retries.Add(1)
	return true
}

// sleep waits, or returns the cause of the context's end.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
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
