package pool

import (
	"context"
	"fmt"
	"runtime/debug"
)

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
