package pool

import (
	"context"
	"time"
)

// deliver yields events until all is done or the reader breaks, which it reports as false.
func (r *run) deliver(yield func(Event, error) bool) bool {
	var spare []Event
	for {
		p := r.read(spare)
		for i := range p.events {
			if !yield(p.events[i], nil) {
				return false
			}
		}
		if len(p.events) == 0 && (p.finished || !r.await(p.stuck)) {
			return true
		}
		clear(p.events)
		spare = p.events
	}
}

func (r *run) read(spare []Event) page {
	var fx effects
	r.mu.Lock()
	p := r.board.read(spare, r.moment(now()), &fx)
	if r.space != nil {
		close(r.space)
		r.space = nil
	}
	r.unlock(&fx)
	r.perform(&fx)
	return p
}

// report adds an event of a running task once there is room.
func (r *run) report(ctx context.Context, e Event) {
	for {
		var fx effects
		r.mu.Lock()
		if r.ctx.Err() != nil {
			r.mu.Unlock()
			return // so that a task which ignores its end cannot put it off
		}
		if r.board.offer(e, &fx) {
			r.unlock(&fx)
			r.perform(&fx)
			return
		}
		if r.space == nil {
			r.space = make(chan struct{})
		}
		space := r.space
		r.mu.Unlock()
		select {
		case <-space:
		case <-ctx.Done():
			return
		}
	}
}

// await waits until there is something to read, and reports false once the grace is used up, of a
// run that was stopped, or that is stuck: it was drained, and only the source does not end.
func (r *run) await(stuck bool) bool {
	if !stuck {
		select {
		case <-r.readable:
			return true
		case <-r.ctx.Done():
		}
	}
	grace := r.grace()
	defer grace.Stop()
	select {
	case <-r.readable:
		return true
	case <-grace.C:
		return false
	}
}

// grace is a timer for the rest of the grace period, which begins when it is first asked for.
func (r *run) grace() *time.Timer {
	if r.last == 0 {
		r.last = now() + r.conf.Grace
	}
	return time.NewTimer(r.last - now())
}
