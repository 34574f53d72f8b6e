package pool

import (
	"context"
	"time"
)

// deliver yields events until the run is over. It returns false if the reader breaks before.
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

// report adds a Progress event of an item once there is room, while the item runs.
func (r *run) report(ctx context.Context, it *item, value any) {
	e := Event{Kind: Progress, Key: it.Key, Value: value, Attempt: it.attempts()}
	for {
		var space chan struct{}
		r.update(func(b *board, m moment, fx *effects) {
			if m.cut || !b.runs(it) || b.offer(e, fx) { // a task that ignores its context cannot delay its end
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

// await waits until there are events to read. In a run that was stopped or is stuck, it returns
// false when the grace is over. A stuck run was drained, and only its source has not ended.
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

// grace returns the rest of the grace period, which begins at the first call.
func (r *run) grace() time.Duration {
	if r.last == 0 {
		r.last = now() + r.conf.Grace
	}
	return r.last - now()
}
