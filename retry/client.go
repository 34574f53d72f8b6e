package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
)

// Config configures a [Client]. The zero Config works; 0 and nil always mean the default, and a
// value out of range is an error that names the field.
type Config struct {
	// Name identifies the downstream in errors. Defaults to "client".
	Name string

	// Attempts bounds the attempts of a call: 1 means no retries. Defaults to 3; up to 11.
	Attempts int

	// Backoff is the mean pause before the first retry; it doubles with each further retry, up to
	// MaxWait. Defaults to 100 ms; from 1 ms to MaxWait.
	Backoff time.Duration

	// MaxWait is the longest wait that a downstream may ask for. If it asks for a longer wait, the
	// client gives the call up. Defaults to 30 s, the most that a [weir.RefusedError] asks for;
	// from 1 ms to 1 h.
	MaxWait time.Duration

	// Budget bounds the retries of all calls together. Clients may share one. Defaults to a
	// budget of the zero BudgetConfig.
	Budget *Budget

	// Throttler refuses calls that the downstream would refuse. Clients of one downstream may
	// share one. Defaults to a throttle of the zero ThrottlerConfig.
	Throttler *Throttler

	// Classify maps the error of an attempt of [Client.Do] to an answer. Defaults to
	// [Classify]. It is called concurrently.
	Classify func(error) Answer
}

// A Client makes calls to one downstream. All methods are safe for concurrent use. Make one
// with [New]; the zero Client is not usable.
type Client struct {
	name             string
	attempts         int
	backoff, maxWait time.Duration
	budget           *Budget
	throttle         *Throttler
	classify         func(error) Answer

	count struct{ attempts, retries, throttled, overBudget atomic.Uint64 }
}

// New returns a client. Its error matches [weir.ErrConfig].
func New(cfg Config) (*Client, error) {
	c := &Client{
		name: cmp.Or(cfg.Name, "client"), attempts: cmp.Or(cfg.Attempts, 3), maxWait: cmp.Or(cfg.MaxWait, 30*time.Second),
		budget: cfg.Budget, throttle: cfg.Throttler, classify: cfg.Classify,
	}
	c.backoff = cmp.Or(cfg.Backoff, min(100*time.Millisecond, c.maxWait))
	if c.attempts < 1 || c.attempts > 11 {
		return nil, invalid("Attempts", c.attempts, "0 (the default, 3), or 1 to 11")
	}
	if err := cmp.Or(
		lasts("MaxWait", c.maxWait, time.Millisecond, time.Hour),
		lasts("Backoff", c.backoff, time.Millisecond, c.maxWait),
	); err != nil {
		return nil, err
	}
	switch {
	case c.budget != nil && c.budget.window == nil:
		return nil, invalid("Budget", "the zero one", "nil or what NewBudget returned")
	case c.throttle != nil && c.throttle.length == 0:
		return nil, invalid("Throttler", "the zero one", "nil or what NewThrottler returned")
	}
	if c.budget == nil {
		c.budget, _ = NewBudget(BudgetConfig{}) // valid
	}
	if c.throttle == nil {
		c.throttle, _ = NewThrottler(ThrottlerConfig{}) // valid
	}
	if c.classify == nil {
		c.classify = Classify
	}
	return c, nil
}

// Do calls attempt, and repeats it as long as Attempts, Classify, the budget, the throttle and the
// context allow. It returns the last error of attempt. If the throttle did not allow the first
// attempt, it returns the refusal ([weir.ErrOverload]). If the context ended while Do waited, it
// returns the cause. The call has the [weir.Priority] of the context. A nil ctx counts as
// context.Background.
func (c *Client) Do(ctx context.Context, attempt func(context.Context) error) error {
	ctx = cmp.Or(ctx, context.Background())
	var err error
	try := func() Answer {
		if err = attempt(ctx); err == nil {
			return Answer{Outcome: weir.Success}
		}
		return c.classify(err)
	}
	for call := c.Call(); ; {
		again, stop := call.Try(ctx, try)
		if stop != nil {
			return stop
		}
		if !again {
			return err
		}
	}
}

// Classify is the default of [Config].Classify: a refusal ([weir.ErrRefused]) is tried again after
// its RetryAfter, unless its key is bad. Any other error is final, because it does not say whether
// the work was done. Its outcome is the outcome of [weir.Classify], but [weir.Ignore] for a
// cancellation.
func Classify(err error) Answer {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		_, again := edge.RetryAfter(refused)
		return Answer{Outcome: weir.Overloaded, RetryAfter: refused.RetryAfter, Final: !again}
	}
	switch outcome := weir.Classify(err); outcome {
	case weir.Success, weir.Overloaded:
		return Answer{Outcome: outcome}
	case weir.Abandoned:
		return Answer{Outcome: weir.Ignore, Final: true}
	default:
		return Answer{Outcome: outcome, Final: true}
	}
}

// A Snapshot counts the calls of a [Client]. Its numbers are of nearly one moment.
type Snapshot struct {
	Attempts   uint64 // begun, retries included
	Retries    uint64 // waits for another attempt
	Throttled  uint64 // refused by the throttle, and not sent
	OverBudget uint64 // not tried again because the budget was spent
}

// Snapshot returns the counts so far.
func (c *Client) Snapshot() Snapshot {
	n := &c.count
	return Snapshot{n.attempts.Load(), n.retries.Load(), n.throttled.Load(), n.overBudget.Load()}
}

// String returns the snapshot as JSON, which makes a Client an expvar.Var.
func (c *Client) String() string { return wire.String(c.Snapshot()) }

// inRange checks that a number is greater than above and at most most. NaN is neither.
func inRange(field string, value, above, most float64) error {
	if value > above && value <= most {
		return nil
	}
	return invalid(field, value, fmt.Sprintf("0 (the default), or above %v and at most %v", above, most))
}

// lasts checks that a duration is in range.
func lasts(field string, value, least, most time.Duration) error {
	if value >= least && value <= most {
		return nil
	}
	return invalid(field, value, fmt.Sprintf("0 (the default), or %v to %v", least, most))
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(weir.ErrConfig, "retry: "+field, value, want)
}
