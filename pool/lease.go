package pool

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	errHangs  = errors.New("the call of Extend did not return in time")
	errRanOut = errors.New("it ran out before it could be extended")
)

// A lease keeps the claim of a task alive until it is settled.
type lease struct {
	Lease
	length time.Duration
	lose   context.CancelCauseFunc // ends the task's context
	lost   causedError             // the cause for which it is ended if the lease is lost
	first  *time.Timer             // begins to extend it; nil if it lasts without end
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

// hold extends the lease again and again, until ctx ends. It ends ctx when the lease is lost. Most
// tasks end before it has to be extended at all, and need no goroutine for it.
func (l *lease) hold(ctx context.Context) {
	if l.length <= 0 {
		return
	}
	until := now() + l.kept()
	l.first = time.AfterFunc(min(l.share(extendAfter), l.kept()), func() { l.extend(ctx, until) })
}

// extend extends a lease, which is valid until the given time, again and again.
func (l *lease) extend(ctx context.Context, until time.Duration) {
	failed := errRanOut
	for ctx.Err() == nil {
		at := now()
		if at >= until {
			l.giveUp(failed)
			return
		}
		result := l.try(ctx, min(until-at, l.share(tryFor)))
		wait := l.share(extendAfter)
		switch {
		case result.gone:
			l.giveUp(result.err)
			return
		case result.err != nil:
			failed, wait = result.err, l.share(retryAfter)
		default:
			failed, until = errRanOut, at+l.kept()
		}
		select {
		case <-time.After(min(wait, until-now())):
		case <-ctx.Done():
		}
	}
}

// giveUp ends the task.
func (l *lease) giveUp(why error) {
	l.lost = causedError{kind: ErrLeaseLost, cause: why}
	l.lose(&l.lost)
}

// A try is how one to extend a lease ended.
type try struct {
	err  error
	gone bool // the source says that the lease is lost
}

// try tries to extend the lease once. A call that takes longer is left behind.
func (l *lease) try(ctx context.Context, within time.Duration) try {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
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

// settle ends the lease with the result of its task, whose context is given, and returns why it
// could not.
func (l *lease) settle(ctx context.Context, grace time.Duration, end func(context.Context) error) error {
	if l.first != nil {
		l.first.Stop()
	}
	l.lose(nil)
	if context.Cause(ctx) == &l.lost { //nolint:errorlint // whether it is this lease that was lost
		return &l.lost
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return end(within)
}

// settle ends the lease of a task, and then has its last event published.
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
