package pool

import (
	"container/heap"
	"context"
	"time"
)

// attend waits for what no task or reader brings about: a turn that has come while none of ours
// ended, rests that are over, and the end of the context.
func (r *run) attend() {
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		next, finished := r.look()
		if finished {
			return
		}
		alarm.Reset(next)
		select {
		case <-r.nudge:
		case <-alarm.C:
		case <-r.ctx.Done():
			if r.outer.Err() != nil {
				r.stop(context.Cause(r.outer))
			}
			return
		}
	}
}

// look starts what can be started, and returns when to look again.
func (r *run) look() (next time.Duration, finished bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := now()
	for len(r.resting) > 0 && r.resting[0].since <= at {
		r.queue(heap.Pop(&r.resting).(*item))
	}
	r.start(at, false)
	next = time.Hour
	if len(r.resting) > 0 {
		next = min(next, r.resting[0].since-at)
	}
	if rest := r.gate.rests(at); rest > 0 {
		next = min(next, rest)
	}
	return next, r.finished()
}
