package bulkhead

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/weir-go/weir"
)

// A compartment is a key with its limiter.
type compartment struct {
	key     string
	limiter *weir.Limiter
	breaker *lateBreaker // nil without Compartment.Breaker; guarded by Set.updating

	// callers counts the callers that are about to be admitted, and is below 0 once the compartment
	// is shut. While it is above 0, or work is in flight, the limiter is in use.
	callers atomic.Int64
	used    atomic.Bool // since the hand of the clock last passed
}

const gone = math.MinInt64 / 2

// enter reports whether the caller may use the limiter, until it leaves.
func (c *compartment) enter() bool {
	if c.callers.Add(1) > 0 {
		return true
	}
	c.callers.Add(-1)
	return false
}

func (c *compartment) leave() { c.callers.Add(-1) }

// touch marks the compartment as used. It writes only if it must, so that the
// processors that use a key need not take the mark from each other.
func (c *compartment) touch() {
	if !c.used.Load() {
		c.used.Store(true)
	}
}

// shut makes enter refuse all later callers.
func (c *compartment) shut() { c.callers.Add(gone) }

func (c *compartment) shutIfIdle() bool {
	if !idle(c.limiter) || !c.callers.CompareAndSwap(0, gone) {
		return false
	}
	if !idle(c.limiter) { // somebody came and left, and the work still runs
		c.callers.Add(-gone)
		return false
	}
	return true
}

// drained reports whether a compartment that is shut is no longer in use.
func (c *compartment) drained() bool { return c.callers.Load() <= gone && idle(c.limiter) }

// An entry is a compartment that the caller entered, or the reason why there is none. Each method
// leaves the compartment.
type entry struct {
	*compartment
	err error
}

func (e entry) doN(ctx context.Context, weight int, fn func(context.Context) error) error {
	if e.err != nil {
		return e.err
	}
	defer e.leave()
	return e.limiter.DoN(ctx, weight, fn)
}

func (e entry) acquireN(ctx context.Context, weight int) (weir.Permit, error) {
	if e.err != nil {
		return weir.Permit{}, e.err
	}
	defer e.leave()
	return e.limiter.AcquireN(ctx, weight)
}

func (e entry) tryAcquire(ctx context.Context) (weir.Permit, error) {
	if e.err != nil {
		return weir.Permit{}, e.err
	}
	defer e.leave()
	return e.limiter.TryAcquire(ctx)
}

func (e entry) full(ctx context.Context) error {
	if e.compartment == nil {
		return e.err
	}
	defer e.leave()
	return e.limiter.Full(ctx)
}
