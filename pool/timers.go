package pool

import (
	"context"
	"time"
)

// timers waits for changes that no task or reader causes: a place in the queue that has come up
// while none of ours ended, rests that are over, and the end of the context.
func (r *run) timers() {
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		var next time.Duration
		var finished bool
		r.update(func(b *board, m moment, fx *effects) { next, finished = b.due(m, fx), b.finished() })
		if finished {
			return
		}
		alarm.Reset(next)
		select {
		case <-r.timersDue:
		case <-alarm.C:
		case <-r.ctx.Done():
			if r.outer.Err() != nil {
				r.stop(context.Cause(r.outer))
			}
			return
		}
	}
}
