package weir

import "context"

// An Admitter admits work: a [*Limiter], one key of a set, such as the Handle of package bulkhead,
// or another value that hands out permits. The adapters, such as weirhttp and weirgrpc, take an
// Admitter.
//
// An Admitter may have more of the methods of a Limiter. [Do], [AcquireN] and [Full] work with any
// Admitter, and do without the methods that it lacks. An Admitter that wraps another passes these
// methods on with these functions.
type Admitter interface {
	// Acquire waits for a permit, as [Limiter.Acquire] does. An error that matches [ErrRefused] is
	// a refusal. Any other error means that ctx ended before the work was admitted. Acquire must be
	// safe for concurrent use.
	Acquire(ctx context.Context) (Permit, error)
}

// AcquireN is [Limiter.AcquireN] for any [Admitter]. An Admitter without an AcquireN admits the
// work with a weight of 1; then the permit gets its weight by [Permit.SetWeight].
func AcquireN(ctx context.Context, a Admitter, weight int) (Permit, error) {
	if heavy, ok := a.(interface {
		AcquireN(ctx context.Context, weight int) (Permit, error)
	}); ok {
		return heavy.AcquireN(ctx, weight)
	}
	if err := checkWeight(weight); err != nil {
		return Permit{}, err
	}
	permit, err := a.Acquire(ctx)
	if err != nil {
		return Permit{}, err
	}
	weighed := false
	defer func() {
		if !weighed { // a hook panicked
			permit.Release()
		}
	}()
	err = permit.SetWeight(weight)
	weighed = true
	return permit, err
}

// Full is [Limiter.Full] for any [Admitter]. An Admitter without a method Full is never full: its
// Acquire decides.
func Full(ctx context.Context, a Admitter) error {
	if full, ok := a.(interface {
		Full(ctx context.Context) error
	}); ok {
		return full.Full(ctx)
	}
	return nil
}
