package pool

import (
	"fmt"
	"time"
)

// ended notes the result of an attempt, whose grant was given back, and starts the tasks that can
// be started.
func (b *board) ended(it *item, a attempt, m moment, fx *effects) {
	b.unbook(it)
	switch e := (Event{Value: a.value, Err: a.err, Took: m.at - it.since}); {
	case a.err == nil:
		e.Kind = Done
		b.succeed(it, e, m, fx)
	case m.cut || b.cut:
		e.Kind = Failed
		b.interrupted(it, e, fx)
	default:
		e.Kind = Failed
		b.fail(it, e, fx)
	}
	b.start(m, fx)
	b.checkFinished(fx)
}

// succeed ends an item that succeeded, and frees its dependents.
func (b *board) succeed(it *item, e Event, m moment, fx *effects) {
	if it.Key != "" {
		for _, other := range b.graph.Done(it.Key) {
			if next := b.blocked[other]; next != nil {
				delete(b.blocked, other)
				next.since = m.at
				b.ready.add(next)
			}
		}
	}
	b.conclude(it, e, 0, fx)
}

// fail ends an item for good, and with it its dependents.
func (b *board) fail(it *item, e Event, fx *effects) {
	it.last = b.conf.MaxAttempts > 0 && it.delivered >= b.conf.MaxAttempts
	b.conclude(it, e, b.conf.redelivery(it), fx)
	if it.Key != "" {
		why := &causedError{ErrDependency, fmt.Sprintf("it waits for %q, which failed", it.Key), e.Err}
		b.failDependents(it.Key, why, fx)
	}
	if b.conf.StopOnError && b.why == nil {
		b.stop(&causedError{ErrStopped, fmt.Sprintf("task %q", it.Key), e.Err}, fx)
	}
}

// failDependents cancels the dependents of a task that failed.
func (b *board) failDependents(key string, why error, fx *effects) {
	for _, other := range b.graph.Fail(key) {
		if it := b.blocked[other]; it != nil {
			delete(b.blocked, other)
			b.conclude(it, Event{Kind: Cancelled, Err: why}, b.conf.redelivery(it), fx)
		}
	}
}

// interrupted ends an item that the end of the run has cut short, or that lost its lease before it
// started: the lease goes back at once.
func (b *board) interrupted(it *item, e Event, fx *effects) {
	b.conclude(it, e, 0, fx)
	if it.Key != "" {
		b.failDependents(it.Key, e.Err, fx)
	}
}

// conclude publishes the last event of an item, once its lease is settled.
func (b *board) conclude(it *item, e Event, redeliver time.Duration, fx *effects) {
	switch e.Kind {
	case Done:
		b.completed++
	case Failed:
		b.failed++
	case Cancelled:
		b.cancelled++
	}
	e.Key, e.Attempt, e.Waited = it.Key, it.attempts(), it.waited
	if it.lease == nil {
		b.publish(e, fx)
		return
	}
	b.settling++
	fx.ends = append(fx.ends, ending{it, e, redeliver})
}

// settled takes note that the lease of an item has ended.
func (b *board) settled(e Event, fx *effects) {
	b.settling--
	b.publish(e, fx)
	b.checkFinished(fx)
}
