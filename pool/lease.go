package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A lease keeps the claim of a task alive until it is settled.
type lease struct {
	Lease
	length time.Duration
	lose   context.CancelCauseFunc // ends the task's context

	mu      sync.Mutex
	settled bool
	until   time.Duration // when it counts as lost unless it is extended
	next    *time.Timer   // extends it
	end     *time.Timer   // ends the task when the lease has run out
	failed  error         // why the last try to extend it failed
	lost    error
}

// Leases are extended when a third of their time is over, as most systems with leases advise: two
// tries may then fail. After a failure the next try comes sooner. A lease counts as lost a twelfth
// of its time before it runs out, so that its task can end before another has it. A try may take a
// quarter of its time: one that hangs leaves time for another.
const (
	extendAfter = 3
	retryAfter  = 12
	tryFor      = 4
	spare       = 12
	leastRest   = time.Millisecond // between tries, of leases that are shorter than any call
)

func (l *lease) share(of time.Duration) time.Duration { return max(l.length/of, leastRest) }

// kept is how long the lease counts on from when it was extended.
func (l *lease) kept() time.Duration { return l.length - l.length/spare }

// hold extends the lease again and again.
func (l *lease) hold(ctx context.Context) {
	if l.length <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = now() + l.kept()
	l.next = time.AfterFunc(l.share(extendAfter), func() { l.extend(ctx) })
	l.end = time.AfterFunc(l.kept(), l.expire)
}

func (l *lease) extend(ctx context.Context) {
	l.mu.Lock()
	over, until := l.settled || l.lost != nil, l.until
	l.mu.Unlock()
	if over {
		return
	}
	at := now()
	within, cancel := context.WithTimeout(ctx, min(until-at, l.share(tryFor)))
	defer cancel()
	var err error
	gone := false
	if exit := isolated(func() { err = l.Extend(within, l.length); gone = errors.Is(err, ErrLeaseLost) }); exit != nil {
		err = fmt.Errorf("%w: Extend: %w", ErrSource, exit)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.settled || l.lost != nil:
	case gone:
		l.giveUp(err)
	case err != nil:
		l.failed = err
		l.next.Reset(l.share(retryAfter))
	default:
		l.until, l.failed = at+l.kept(), nil
		l.end.Reset(l.until - now())
		l.next.Reset(l.share(extendAfter))
	}
}

// expire ends the task when its lease has run out.
func (l *lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled || l.lost != nil || now() < l.until {
		return
	}
	why := l.failed
	if why == nil {
		why = errors.New("it ran out before it could be extended")
	}
	l.giveUp(why)
}

// giveUp ends the task, under the lock.
func (l *lease) giveUp(why error) {
	l.lost = &causedError{kind: ErrLeaseLost, cause: why}
	l.next.Stop()
	l.end.Stop()
	l.lose(l.lost)
}

// settle ends the lease with the task's result, and returns why it could not.
func (l *lease) settle(ctx context.Context, grace time.Duration, end func(context.Context) error) (err error) {
	l.mu.Lock()
	l.settled = true
	if l.next != nil {
		l.next.Stop()
		l.end.Stop()
	}
	lost := l.lost
	l.mu.Unlock()
	l.lose(nil)
	if lost != nil {
		return lost
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if exit := isolated(func() { err = end(within) }); exit != nil {
		err = fmt.Errorf("%w: the end of a lease: %w", ErrSource, exit)
	}
	return err
}
