package pool

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/weir-go/weir/capacity"
)

// spawn starts a worker with an item, or does nothing without one.
func (r *run) spawn(it *item, g capacity.Grant) {
	if it != nil {
		r.helpers.Go(func() { r.work(it, g) })
	}
}

// work runs an item, and then what it can start itself.
func (r *run) work(it *item, g capacity.Grant) {
	exited := true // by runtime.Goexit in a task
	defer func() {
		if exited {
			r.spawn(r.finish(it, g, attempt{err: ErrExited, ran: true}))
		}
	}()
	for it != nil {
		it, g = r.finish(it, g, r.try(it))
	}
	exited = false
}

// An attempt is what became of one.
type attempt struct {
	value any
	err   error
	ran   bool // the gate let it pass
}

// try runs an item once. A panic is an error.
func (r *run) try(it *item) (a attempt) {
	if r.conf.Gate != nil {
		return r.tryGate(it)
	}
	defer func() {
		if p := recover(); p != nil {
			a = attempt{err: &PanicError{p, debug.Stack()}, ran: true}
		}
	}()
	value, err := it.Run(it)
	return attempt{value, err, true}
}

// tryGate asks the gate to run an item, which is kept apart because it allocates.
func (r *run) tryGate(it *item) (a attempt) {
	var stack []byte
	defer func() {
		if p := recover(); p != nil {
			if stack == nil {
				stack = debug.Stack()
			}
			a = attempt{err: &PanicError{p, stack}, ran: true}
		}
	}()
	var own error
	err := r.conf.Gate(it, func(ctx context.Context) (err error) {
		returned := false
		a.ran = true
		r.passed()
		defer func() {
			if !returned {
				stack = debug.Stack() // the gate might recover and panic anew
			}
		}()
		a.value, err = it.Run(ctx)
		own, returned = err, true
		return err
	})
	if err == nil {
		err = own
	}
	a.err = err
	return a
}

// passed tries the gate with another task if this one was a probe.
func (r *run) passed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate.passed() {
		r.start(now(), false)
	}
}

// finish gives back what an item was granted, says what became of it, and returns what is to be run
// next.
func (r *run) finish(it *item, g capacity.Grant, a attempt) (*item, capacity.Grant) {
	r.releasing.Add(1)
	g.Release()
	at := now()
	r.mu.Lock()
	r.releasing.Add(-1)
	r.land(it)
	took := at - it.since
	r.observeEnd(it, at, a)
	if a.ran {
		r.gate.left()
	}
	switch e := (Event{Value: a.value, Err: a.err, Took: took}); {
	case a.err == nil && !a.ran:
		e.Err = fmt.Errorf("%w: the Gate neither ran the task nor refused it", ErrConfig)
		e.Kind = Failed
		r.fail(it, e)
	case a.err == nil:
		e.Kind = Done
		r.succeed(it, e)
	case r.ctx.Err() != nil:
		e.Kind = Cancelled
		if a.ran {
			e.Kind = Failed
		}
		r.interrupted(it, e)
	case !a.ran:
		r.defers(it, e, at)
	case it.attempt < it.Retry.Attempts && !isPermanent(a.err) && !r.stopped && it.Err() == nil:
		r.retry(it, e, at)
	default:
		e.Kind = Failed
		r.fail(it, e)
	}
	next, grant := r.start(at, true)
	r.looked()
	r.mu.Unlock()
	return next, grant
}

// interrupted ends an item that the end of the run has cancelled: its lease goes back at once.
func (r *run) interrupted(it *item, e Event) {
	if e.Kind == Failed {
		r.failed++
	}
	r.conclude(it, e, 0)
	if it.Key != "" {
		r.failDependents(it.Key, e.Err)
	}
}

// defers puts an item that the gate refused back to its place.
func (r *run) defers(it *item, e Event, at time.Duration) {
	it.attempt--
	if r.stopped {
		e.Kind, e.Err = Cancelled, r.reason()
		r.interrupted(it, e)
		return
	}
	e.Kind, e.Key, e.Attempt, e.Waited, e.Took = Deferred, it.Key, it.attempt, it.waited, 0
	e.Rest = r.gate.refuse(at)
	r.publish(e)
	it.since = at
	r.queue(it)
	signal(r.nudge) // the attendant ends the rest
}

// retry puts an item aside for another attempt.
func (r *run) retry(it *item, e Event, at time.Duration) {
	e.Kind, e.Key, e.Attempt, e.Waited = Retrying, it.Key, it.attempt, it.waited
	e.Rest = it.Retry.rest(it.attempt)
	r.publish(e)
	r.rest(it, at+e.Rest)
}
