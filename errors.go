package weir

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/settings"
)

// ErrRefused matches every refusal: work that was not admitted and never ran. Refusals by other
// packages, such as capacity, match it too. Use errors.As with a [*RefusedError] for the reason and
// for the delay of a retry.
var ErrRefused = reply.ErrRefused

// A refusal matches the error of its reason. Each of these errors also matches [ErrRefused], and
// ErrDeadline matches context.DeadlineExceeded too.
var (
	ErrTenantShare  error = sentinel{ReasonTenantShare}
	ErrQueueFull    error = sentinel{ReasonQueueFull}
	ErrQueueTimeout error = sentinel{ReasonQueueTimeout}
	ErrDeadline     error = sentinel{ReasonDeadline}
	ErrTooHeavy     error = sentinel{ReasonTooHeavy}
	ErrClosed       error = sentinel{ReasonClosed}
	ErrBreakerOpen  error = sentinel{ReasonBreakerOpen}
	ErrOverload     error = sentinel{ReasonOverload}
	ErrLimitReached error = sentinel{ReasonLimitReached}
	ErrPace         error = sentinel{ReasonPace}
	ErrPushback     error = sentinel{ReasonPushback}
)

// A sentinel is the error that all refusals for the reason match.
type sentinel struct{ reason Reason }

func (s sentinel) Error() string { return ErrRefused.Error() + ": " + s.reason.String() }

// Is makes errors.Is match the errors that all refusals for the reason match.
func (s sentinel) Is(target error) bool {
	return target == ErrRefused || s.reason == ReasonDeadline && target == context.DeadlineExceeded
}

// ErrExecutionTimeout is the cause of the context that [Limiter.Do] hands to
// work which ran longer than [Config].Timeout, and matches the error that Do
// then returns. It is no refusal: the work did run.
var ErrExecutionTimeout = errors.New("weir: execution timeout")

// ErrConfig matches every error about a setting, of the other packages too.
var ErrConfig = settings.ErrConfig

// A Reason says why work was refused.
type Reason uint8

// These are the reasons for a refusal. The admission core uses the same numbers.
const (
	// ReasonBadKey: the key of a bulkhead is empty or too long, so there is no limiter for it.
	ReasonBadKey Reason = 1
	// ReasonTenantShare: the queue had no room, and the tenant of the work had more than its fair
	// share while other tenants had work too; see [Queue].Tenants.
	ReasonTenantShare Reason = 2
	// ReasonQueueFull: the limit was reached and the queue had no room. An [Adaptive] queue
	// refuses the oldest waiter, and not the newcomer.
	ReasonQueueFull Reason = 3
	// ReasonQueueTimeout: the work waited in the queue for longer than Queue.Timeout or, in a
	// standing [Adaptive] queue, for longer than half of that time.
	ReasonQueueTimeout Reason = 4
	// ReasonDeadline: after a wait, or a longer wait, the work could not finish before the deadline
	// of its context. Or the work was in a standing [Adaptive] queue, and waited for half of the
	// time in which it could start.
	ReasonDeadline Reason = 5
	// ReasonTooHeavy: the weight of the work is above [Config].Max, a fixed limit or the cap of a
	// bulkhead.
	ReasonTooHeavy Reason = 6
	// ReasonClosed: the limiter is closed or shutting down.
	ReasonClosed Reason = 7
	// ReasonBreakerOpen: Config.Breaker did not allow the work.
	ReasonBreakerOpen Reason = 8
	// ReasonOverload: package shed or package retry refused the work.
	ReasonOverload Reason = 9
	// ReasonLimitReached: the limit or the cap of a bulkhead had no room, and there is no
	// queue, or the work would not wait ([Limiter.TryAcquire]).
	ReasonLimitReached Reason = 10
	// ReasonPace: the pace of a throttle lets the work start later than it may wait.
	ReasonPace Reason = 11
	// ReasonPushback: the downstream refused all recent work, and the time that it asked the
	// limiter to wait has not passed. Until then the limiter sends little work; see
	// [Permit.Pushback].
	ReasonPushback Reason = 12
)

// Reasons returns all reasons for a refusal, so that a metric can also show reasons that have not
// occurred yet.
func Reasons() []Reason {
	var all []Reason
	for v := reply.Admitted + 1; v.Refused(); v++ {
		all = append(all, Reason(v))
	}
	return all
}

// String returns the reason in words, such as "queue full".
func (r Reason) String() string {
	if v := reply.Verdict(r); v.Refused() {
		return v.String()
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// MarshalText renders the reason as String does.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// A RefusedError says which limiter refused work and why.
type RefusedError struct {
	Limiter string // Config.Name, or the key of a bulkhead with ReasonBadKey
	Reason  Reason // why
	// RetryAfter is the time until the current running and waiting work has drained: at most 30 s,
	// and 0 if that time is unknown because no work has ended yet. All refusals of one moment have
	// the same RetryAfter, so callers should come back after a random delay of one to two times
	// RetryAfter, as edge.RetryAfter computes it. For a throttle it is the time until one more
	// operation may wait.
	RetryAfter time.Duration
}

// Error returns a sentence such as `weir: limiter "search" refused: queue full`.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("weir: limiter %q refused: %s", e.Limiter, e.Reason)
}

// Is makes errors.Is match [ErrRefused] and the error of the reason; with [ReasonDeadline] it
// matches context.DeadlineExceeded too, because the work would have run into its deadline.
func (e *RefusedError) Is(target error) bool {
	s := sentinel{e.Reason}
	return s.Is(target) || target == error(s)
}
