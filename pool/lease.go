package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

var errHangs = errors.New("the call of Extend did not return in time")

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
	at := now()
	if over || at >= until {
		return
	}
	within, cancel := context.WithTimeout(ctx, min(until-at, l.share(tryFor)))
	defer cancel()
	result := l.try(within)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.settled || l.lost != nil:
	case result.gone:
		l.giveUp(result.err)
	case result.err != nil:
		l.failed = result.err
		l.next.Reset(l.share(retryAfter))
	default:
		l.until, l.failed = at+l.kept(), nil
		l.end.Reset(l.until - now())
		l.next.Reset(l.share(extendAfter))
	}
}

// A try is how one to extend a lease ended.
type try struct {
	err  error
	gone bool // the source says that the lease is lost
}

// try tries to extend the lease once. A call that outlives its context is left behind.
func (l *lease) try(ctx context.Context) try {
	returned := make(chan try, 1)
	go func() {
		var t try
		exit := isolated(func() {
			t.err = l.Extend(ctx)
			t.gone = errors.Is(t.err, ErrLeaseLost)
		})
		if exit != nil {
			t = try{err: fmt.Errorf("%w: Extend: %w", ErrSource, exit)}
		}
		returned <- t
	}()
	select {
	case t := <-returned:
		return t
	case <-ctx.Done():
		return try{err: errHangs}
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
func (l *lease) settle(ctx context.Context, grace time.Duration, end func(context.Context) error) error {
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
	return end(within)
}

// settle ends the lease of a task, and then has its last event published. It is called on a
// goroutine of its own, which code of the user may end.
func (r *run) settle(e ending) {
	err, rejecting, returned := ErrExited, false, false
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
		if !returned {
			err = fmt.Errorf("%w: the end of a lease: %w", ErrSource, err)
		}
		r.settled(e, rejecting, err)
	}()
	err = e.lease.settle(r.ctx, r.conf.Grace, func(ctx context.Context) error {
		rejecter, rejects := e.lease.Lease.(Rejecter)
		switch forGood := e.last || isPermanent(e.Err); {
		case e.Err == nil, forGood && !rejects:
			return e.lease.Acknowledge(ctx)
		case forGood:
			rejecting = true
			return rejecter.Reject(ctx, e.Err)
		}
		return e.lease.GiveBack(ctx, e.redeliver)
	})
	returned = true
}

// settled has the last event of a task published, with the error of the end of its lease.
func (r *run) settled(e ending, rejecting bool, err error) {
	e.Rejected = rejecting && err == nil
	switch {
	case err != nil && e.Err == nil:
		e.Err = fmt.Errorf("not acknowledged: %w", err)
	case err != nil && rejecting:
		e.Err = fmt.Errorf("%w; not rejected: %w", e.Err, err)
	}
	r.update(func(b *board, _ moment, fx *effects) { b.settled(e.Event, fx) })
}
