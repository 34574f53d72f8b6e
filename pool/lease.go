package pool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

var errRanOut = errors.New("it ran out before it could be extended")

// A lease keeps the claim of a task alive until it is settled.
type lease struct {
	Lease
	length time.Duration
	lose   context.CancelCauseFunc // ends the task's context
	stop   context.CancelFunc      // ends the calls that extend it
	failed atomic.Pointer[error]   // of the last try to extend it, nil if that succeeded
	over   *time.Timer             // ends the task; nil for a lease without end
	first  *time.Timer             // begins to extend it
}

// Leases are extended when a third of their time is over, as most systems with leases advise: two
// tries may then fail. After a failure the next try comes sooner. A lease counts as lost a twelfth
// of its time before it runs out, so that its task can end before another process has it. A try may
// take a quarter of the lease's time: a failure then leaves time for another try.
const (
	extendAfter = 3
	retryAfter  = 12
	tryFor      = 4
	spare       = 12
	leastRest   = time.Millisecond // between tries, of leases that are shorter than any call
)

func (l *lease) share(of time.Duration) time.Duration { return max(l.length/of, leastRest) }

// kept returns how long the lease counts after an extension.
func (l *lease) kept() time.Duration { return l.length - l.length/spare }

// hold extends the lease again and again, until it is settled or lost, or ctx ends. Most tasks end
// before the first extension is due, and need no goroutine for their lease.
func (l *lease) hold(ctx context.Context) {
	if l.length <= 0 {
		return
	}
	ctx, l.stop = context.WithCancel(ctx)
	l.over = time.AfterFunc(l.kept(), func() {
		why := errRanOut
		if failed := l.failed.Load(); failed != nil {
			why = *failed
		}
		l.giveUp(why)
	})
	l.first = time.AfterFunc(l.share(extendAfter), func() { l.extend(ctx) })
}

// extend extends the lease again and again.
func (l *lease) extend(ctx context.Context) {
	defer l.over.Stop() // the loop may have set it again after settle had stopped it
	for ctx.Err() == nil {
		at, wait := now(), l.share(extendAfter)
		gone, err := l.try(ctx)
		switch {
		case gone:
			l.giveUp(err)
			return
		case err != nil:
			l.failed.Store(&err)
			wait = l.share(retryAfter)
		default:
			l.failed.Store(nil)
			l.over.Reset(at + l.kept() - now())
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// giveUp ends the task.
func (l *lease) giveUp(why error) {
	l.stop()
	l.lose(&lostError{causedError{kind: ErrLeaseLost, cause: why}, l})
}

// A lostError is the cause of the end of a task that has lost its lease.
type lostError struct {
	causedError
	of *lease
}

// try tries to extend the lease once, and reports whether the source says that it is lost.
func (l *lease) try(ctx context.Context) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.share(tryFor))
	defer cancel()
	exit := isolated(func() {
		err = l.Extend(ctx)
		gone = errors.Is(err, ErrLeaseLost)
	})
	if exit != nil {
		return false, fmt.Errorf("%w: Extend: %w", ErrSource, exit)
	}
	return gone, err
}

// settle ends the lease with the result of its task, whose context is given, and returns why it
// could not.
func (l *lease) settle(ctx context.Context, grace time.Duration, end func(context.Context) error) error {
	l.lose(nil)
	if l.over != nil {
		l.stop()
		l.over.Stop()
		l.first.Stop()
	}
	//nolint:errorlint // the run may end because its caller has lost a lease, which may be wrapped
	if lost, ok := context.Cause(ctx).(*lostError); ok && lost.of == l {
		return lost
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return end(within)
}

// settle ends the lease of a task, and then publishes the last event of the task.
func (r *run) settle(e ending) {
	rejecting := false
	end := func(ctx context.Context) error {
		rejecter, rejects := e.lease.Lease.(Rejecter)
		cut := e.redeliver == 0 // by the end of the run, whose cause may be permanent for another task
		switch forGood := !cut && (e.last || isPermanent(e.Err)); {
		case e.Err == nil, forGood && !rejects:
			return e.lease.Acknowledge(ctx)
		case forGood:
			rejecting = true
			return rejecter.Reject(ctx, e.Err)
		}
		return e.lease.GiveBack(ctx, e.redeliver)
	}
	var err error
	if exit := isolated(func() { err = e.lease.settle(e.Context, r.conf.Grace, end) }); exit != nil {
		err = fmt.Errorf("%w: the end of a lease: %w", ErrSource, exit)
	}
	e.Rejected = rejecting && err == nil
	switch {
	case err != nil && e.Err == nil:
		e.Err = fmt.Errorf("not acknowledged: %w", err)
	case err != nil && rejecting:
		e.Err = fmt.Errorf("%w; not rejected: %w", e.Err, err)
	}
	r.update(func(b *board, _ moment, fx *effects) { b.settled(e.Event, fx) })
}
