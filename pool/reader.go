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

func (r *run) read(spare []Event) (p page) {
	r.update(func(b *board, m moment, fx *effects) {
		p = b.read(spare, m, fx)
		if r.space != nil {
			close(r.space)
			r.space = nil
		}
	})
	return p
}

// report adds an event of a running task once there is room.
func (r *run) report(ctx context.Context, e Event) {
	for {
		var space chan struct{}
		r.update(func(b *board, m moment, fx *effects) {
			if m.cut || b.offer(e, fx) { // a task that ignores its end cannot put it off
				return
			}
			if r.space == nil {
				r.space = make(chan struct{})
			}
			space = r.space
		})
		if space == nil {
			return
		}
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
	grace := time.NewTimer(r.grace())
	defer grace.Stop()
	select {
	case <-r.readable:
		return true
	case <-grace.C:
		return false
	}
}

// grace is the rest of the grace period, which begins when it is first asked for.
func (r *run) grace() time.Duration {
	if r.last == 0 {
		r.last = now() + r.conf.Grace
	}
	return r.last - now()
}
