package pool

import (
	"context"
	"fmt"
	"time"
)

// fail ends an item for good, and with it those that wait for it. All of this file is called
// under the lock.
func (r *run) fail(it *item, e Event) {
	r.failed++
	r.conclude(it, e, r.conf.Redeliver)
	if it.Key != "" {
		r.failDependents(it.Key, fmt.Errorf("%w: it waits for %q, which failed: %w", ErrDependency, it.Key, e.Err))
	}
	if r.conf.StopOnError && r.why == nil {
		r.stopLocked(fmt.Errorf("%w: task %q: %w", ErrStopped, it.Key, e.Err))
	}
}

// failDependents cancels what waits for a task that failed.
func (r *run) failDependents(key string, why error) {
	for _, other := range r.graph.Fail(key) {
		if it := r.blocked[other]; it != nil {
			delete(r.blocked, other)
			r.conclude(it, Event{Kind: Cancelled, Err: why}, r.conf.Redeliver)
		}
	}
}

// cancelTask ends an item whose dependency had failed before it came.
func (r *run) cancelTask(it *item, why error) {
	r.conclude(it, Event{Kind: Cancelled, Err: why}, r.conf.Redeliver)
	r.failDependents(it.Key, why)
}

// succeed ends an item well, and lets go who waited for it.
func (r *run) succeed(it *item, e Event) {
	if it.Key != "" {
		for _, other := range r.graph.Done(it.Key) {
			if next := r.blocked[other]; next != nil {
				delete(r.blocked, other)
				next.since = now()
				r.queue(next)
			}
		}
	}
	r.completed++
	r.conclude(it, e, 0)
}

// conclude publishes the last event of an item, once its lease is settled.
func (r *run) conclude(it *item, e Event, redeliver time.Duration) {
	if e.Kind == Cancelled {
		r.cancelled++
	}
	e.Key, e.Attempt, e.Waited = it.Key, it.attempt, it.waited
	if it.lease == nil {
		r.publish(e)
		return
	}
	r.settle(it, e, redeliver)
}

// settle ends the lease of an item and then publishes its last event.
func (r *run) settle(it *item, e Event, redeliver time.Duration) {
	end := it.lease.Acknowledge
	if e.Err != nil && !isPermanent(e.Err) {
		end = func(ctx context.Context) error { return it.lease.GiveBack(ctx, redeliver) }
	}
	r.settling++
	r.helpers.Go(func() { // it may take a while, and calls the source
		err := it.lease.settle(r.ctx, r.conf.Grace, end)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil && e.Err == nil {
			e.Err = fmt.Errorf("not acknowledged: %w", err)
		}
		r.publish(e)
		r.settling--
		r.looked()
	})
}
