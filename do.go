package weir

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
)

// Do runs fn once it is admitted, on the caller's goroutine, and returns its error. fn gets
// [Config].Timeout through its context, and holds the slot until it returns, even after the
// timeout. An error of fn after the timeout matches [ErrExecutionTimeout]. An error after the end
// of ctx counts as the reason for that end: [Timeout] or [Abandoned]. If fn panics or calls
// runtime.Goexit, the slot is freed and a failure counted, and the panic continues. Work that is
// not admitted gets the error of [Limiter.Acquire]. Without a Timeout, Do does not allocate unless
// it has to wait or refuse.
func (l *Limiter) Do(ctx context.Context, fn func(context.Context) error) error {
	return l.run(ctx, 1, fn)
}

// DoN is Do for work that takes weight slots instead of one, as in [Limiter.AcquireN].
func (l *Limiter) DoN(ctx context.Context, weight int, fn func(context.Context) error) error {
	if err := checkWeight(weight); err != nil {
		return err
	}
	return l.run(ctx, weight, fn)
}

func (l *Limiter) run(ctx context.Context, weight int, fn func(context.Context) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	permit, no := l.enter(ctx, admit.Work{Weight: weight})
	if no.verdict != reply.Admitted {
		return l.refuse(ctx, no)
	}
	return permit.run(ctx, fn)
}

// run runs fn, and gives the permit back.
func (p Permit) run(ctx context.Context, fn func(context.Context) error) (err error) {
	conf := p.limiter.config.Load()
	outcome := Failure // unless fn returns
	defer func() { p.finish(outcome, err) }()
	if conf.timeout > 0 {
		err = doWithin(ctx, conf.timeout, fn)
	} else {
		err = fn(ctx)
	}
	outcome = conf.outcome(ctx, err)
	return err
}

// Do is [Limiter.Do] for any [Admitter] and a function that returns a value. A permit of a Limiter
// brings its settings: [Config].Timeout and Classify.
func Do[T any](ctx context.Context, a Admitter, fn func(context.Context) (T, error)) (T, error) {
	var value T
	if ctx == nil {
		ctx = context.Background()
	}
	permit, err := a.Acquire(ctx)
	if err != nil {
		return value, err
	}
	if permit.limiter == nil { // of an Admitter in a test
		return fn(ctx)
	}
	err = permit.run(ctx, func(ctx context.Context) (err error) {
		value, err = fn(ctx)
		return err
	})
	return value, err
}

// outcome classifies the error of work that ran under ctx. An error after the end of ctx counts as
// that end, because a driver, a subprocess or a call of gRPC then returns an error of its own.
// Config.Classify and refusals are exceptions.
func (c *config) outcome(ctx context.Context, err error) Outcome {
	switch {
	case c.classify != nil:
		return c.classify(err)
	case err != nil && ctx.Err() != nil && !errors.Is(err, ErrRefused):
		return Classify(ctx.Err())
	default:
		return Classify(err)
	}
}

func doWithin(parent context.Context, timeout time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(parent, timeout, ErrExecutionTimeout)
	defer cancel()
	err := fn(ctx)
	// The parent may have ended ctx instead, perhaps by an execution timeout of its own.
	timedOut := err != nil && ctx.Err() != nil && parent.Err() == nil
	if timedOut && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrExecutionTimeout) {
		return fmt.Errorf("%w after %v: %w", ErrExecutionTimeout, timeout, err)
	}
	return err
}
