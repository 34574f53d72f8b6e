package pool

import (
	"context"
	"fmt"
)

// perform performs the effects of a call of the board. No lock may be held.
func (r *run) perform(fx *effects) {
	if fx.cancel != nil {
		r.cancel(fx.cancel)
	}
	if fx.stopClaims {
		r.stopClaims()
	}
	if fx.spawn {
		r.helpers.Go(r.startWorker)
	}
	if fx.short {
		r.scaling.wanted()
	}
	for _, e := range fx.ends {
		r.helpers.Go(func() { r.settle(e) })
	}
	if fx.needTasks {
		signal(r.needTasks)
	}
	if fx.timers {
		signal(r.timersDue)
	}
	if fx.events {
		signal(r.readable)
	}
}

// settle ends the lease of a task and then has its last event published.
func (r *run) settle(e ending) {
	end := func(ctx context.Context) error {
		if e.Err == nil || isPermanent(e.Err) {
			return e.lease.Acknowledge(ctx)
		}
		return e.lease.GiveBack(ctx, e.redeliver)
	}
	err := e.lease.settle(r.ctx, r.conf.Grace, end)
	if err != nil && e.Err == nil {
		e.Err = fmt.Errorf("not acknowledged: %w", err)
	}
	r.update(func(b *board, _ moment, fx *effects) { b.settled(e.Event, fx) })
}
