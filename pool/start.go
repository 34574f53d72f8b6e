package pool

import (
	"errors"

	"github.com/weir-go/weir/capacity"
)

// start starts ready tasks that fit, and asks for tasks when few are left.
func (b *board) start(m moment, fx *effects) {
	if b.asking {
		b.missed = true // answered will start what this would
		return
	}
	for !b.stopped && !m.cut && b.ready.len() > 0 && !b.full(m.coming) && b.backoff.open(m.at) {
		if !b.startFirst(m, fx) {
			break
		}
	}
	if b.ready.len() == 0 && b.place.reservation != nil {
		fx.leave = b.place.leave()
	}
	if !b.sourceDone && b.ready.len()+len(b.resting) <= b.conf.Lookahead/2 {
		fx.needTasks = true
	}
}

// startFirst starts the first item, or ends it if it can never run. It reports false if the item
// has to wait.
func (b *board) startFirst(m moment, fx *effects) bool {
	first := b.ready.first()
	if b.place.reservation != nil && b.place.of != first { // another has come, of higher priority
		fx.leave, fx.resume = b.place.leave(), true // of its own place, or it would stand in its way
		return false
	}
	g, err := b.place.take(first)
	switch {
	case err == nil:
		first.grant = g
		b.ready.take()
		b.book(first, m, fx)
	case errors.Is(err, capacity.ErrWaiting):
		b.backfill(first, fx)
		fx.short = !b.asking
		return false
	default: // a limit fell below its need
		b.ready.take()
		b.fail(first, Event{Kind: Failed, Err: Permanent(err)}, fx)
	}
	return true
}

// book enters that an item runs.
func (b *board) book(it *item, m moment, fx *effects) {
	it.waited += max(0, m.at-it.since)
	it.since = m.at
	it.attempt++
	it.index, it.next = len(b.running), nil
	b.running = append(b.running, it)
	b.backoff.enter()
	fx.start.add(line{it, it})
}

// unbook enters that it does not run any more.
func (b *board) unbook(it *item) {
	last := len(b.running) - 1
	b.running[it.index] = b.running[last]
	b.running[it.index].index = it.index
	b.running[last] = nil
	b.running = b.running[:last]
}

// backfill asks which item fits where the first, which waits for its turn, does not. It asks for as
// many as the first would have to let pass; only heads of the heap are sorted.
func (b *board) backfill(first *item, fx *effects) {
	if b.conf.Strict || b.place.passed >= b.conf.Backfill || b.ready.len() == 1 || b.ready.custom == 0 {
		return
	}
	aside := make([]*item, 0, b.conf.Backfill+1)
	var fit []*item
	for len(aside) <= b.conf.Backfill && b.ready.len() > 0 {
		it := b.ready.take()
		aside = append(aside, it)
		if it.request != first.request {
			fit = append(fit, it)
		}
	}
	for _, it := range aside {
		b.ready.add(it)
	}
	if len(fit) > 0 {
		b.asking, fx.ask = true, &question{b.place.reservation, fit}
	}
}

// answered starts the item that got its grant, nil if none did, and other tasks that can be
// started.
func (b *board) answered(it *item, g capacity.Grant, m moment, fx *effects) {
	again := b.missed || it != nil
	b.asking, b.missed = false, false
	switch {
	case it == nil:
		fx.short = true
	case !m.cut && b.ready.remove(it):
		b.place.passed++
		it.grant = g
		b.book(it, m, fx)
	default: // the run was stopped meanwhile
		fx.release = g
	}
	if again {
		b.start(m, fx)
	}
}
