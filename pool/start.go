package pool

import (
	"context"
	"errors"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
)

// start starts ready tasks that fit, and asks for tasks when few are left.
func (b *board) start(m moment, fx *effects) {
	for !b.stopped && !m.cut && b.ready.len() > 0 && !b.full(m.coming) {
		if !b.startFirst(m, fx) {
			break
		}
	}
	if b.ready.len() == 0 || b.full(0) && b.place.cameUp() { // nothing of ours starts, and others wait
		b.place.leave()
	}
	b.ask(fx)
}

// ask asks for tasks if few are left.
func (b *board) ask(fx *effects) {
	if !b.sourceDone && b.ready.len() <= b.conf.Lookahead/2 {
		fx.needTasks = true
	}
}

// startFirst starts the first item, or ends it if it can never run. It reports false if the item
// has to wait.
func (b *board) startFirst(m moment, fx *effects) bool {
	first := b.ready.first()
	if b.place.of != first { // an item of higher priority has come
		b.place.leave()
	}
	if first.Err() != nil { // its lease was lost: another run may have the task by now
		b.place.leave()
		b.ready.take(0)
		b.interrupted(first, Event{Kind: Cancelled, Err: context.Cause(first)}, fx)
		return true
	}
	g, err := b.place.take(first)
	switch {
	case err == nil:
		b.ready.take(0)
		b.book(first, g, m)
	case errors.Is(err, trusted.ErrWaiting):
		fx.short = !b.backfill(first, m)
		return !fx.short
	default: // a limit fell below its need, and may rise again
		b.ready.take(0)
		b.fail(first, Event{Kind: Failed, Err: err}, fx)
	}
	return true
}

// book puts an item among the running and the booked items, with its grant.
func (b *board) book(it *item, g capacity.Grant, m moment) {
	it.grant = g
	it.waited = max(0, m.at-it.since)
	it.since = m.at
	it.attempt = 1
	it.index = len(b.running)
	b.running = append(b.running, it)
	b.booked.add(it)
}

// runs reports whether a booked item has not ended.
func (b *board) runs(it *item) bool { return it.index < len(b.running) && b.running[it.index] == it }

// unbook removes an item from the running items.
func (b *board) unbook(it *item) {
	last := len(b.running) - 1
	b.running[it.index] = b.running[last]
	b.running[it.index].index = it.index
	b.running[last] = nil
	b.running = b.running[:last]
}

// backfill starts the next item that fits while the first item waits for its turn. It tries no more
// items than may overtake the first.
func (b *board) backfill(first *item, m moment) (started bool) {
	if b.place.passed >= b.conf.Backfill || b.ready.custom == 0 {
		return false
	}
	for i := 1; i < b.ready.len() && i <= b.conf.Backfill; i++ {
		it := b.ready.all()[i]
		if it.request == first.request || it.Err() != nil {
			continue
		}
		if g, err := b.place.pass(it); err == nil {
			b.ready.take(i)
			b.book(it, g, m)
			return true
		}
	}
	return false
}
