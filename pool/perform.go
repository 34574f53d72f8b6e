package pool

import (
	"context"
	"fmt"

	"github.com/weir-go/weir/capacity"
)

// perform performs the effects of the board, and the effects that follow from them. No lock may be
// held.
func (r *run) perform(fx *effects) {
	for {
		r.performOnce(fx)
		if fx.ask == nil && !fx.resume {
			return
		}
		var it *item
		var g capacity.Grant
		if fx.ask != nil {
			it, g = fx.ask.answer()
		}
		var next effects
		r.mu.Lock()
		m := r.moment(now())
		if fx.ask != nil {
			r.board.answered(it, g, m, &next)
		} else {
			r.board.start(m, &next)
		}
		r.unlock(&next)
		*fx = next
	}
}

// answer tries the items in turn.
func (q *question) answer() (*item, capacity.Grant) {
	for _, it := range q.items {
		if g, err := q.reservation.Backfill(it.request); err == nil {
			return it, g
		}
	}
	return nil, capacity.Grant{}
}

func (r *run) performOnce(fx *effects) {
	if fx.cancel != nil {
		r.cancel(fx.cancel)
	}
	if fx.stopClaims {
		r.stopClaims()
	}
	if fx.leave != nil {
		fx.leave.Cancel()
	}
	fx.release.Release()
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
	r.tell(func(b *board, _ moment, fx *effects) { b.settled(e.Event, fx) })
}
