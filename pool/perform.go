package pool

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
