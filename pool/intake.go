package pool

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/dag"
)

// room returns the number of tasks that the board wants from the source, so that it holds at most
// the given number. over reports that it will never want another.
func (b *board) room(m moment, most int64) (n int, over bool) {
	if b.stopped {
		return 0, true
	}
	free := max(0, most-int64(b.held()))
	if b.held() == len(b.blocked) { // they wait for tasks that are still in the source
		free = max(free, 1)
	}
	n = int(min(int64(max(0, b.conf.Lookahead-b.ready.len())), free))
	if n > 0 && b.idle == 0 {
		b.idle = m.at
	}
	return n, false
}

// add takes in items that were claimed.
func (b *board) add(items []item, m moment, fx *effects) {
	b.idle = 0
	for i := range items {
		it := &items[i]
		b.seq++
		it.seq = b.seq
		it.rank(m.at, b.conf.Aging)
		if b.stopped {
			b.conclude(it, Event{Kind: Cancelled, Err: cmp.Or(b.why, ErrDrained)}, 0, fx)
			continue
		}
		b.enter(it, fx)
	}
	b.start(m, fx)
}

// enter adds an item to the graph, and to the ready items if it has no open dependency. An item
// with a fault fails, and its dependents with it. But if the graph has another item of the same
// key, enter refuses the new item, and the dependents go on waiting.
func (b *board) enter(it *item, fx *effects) {
	free, err := true, it.fault
	if it.Key != "" {
		var refused error
		free, refused = b.graph.Add(it.Key, it.After)
		if refused != nil && (err == nil || errors.Is(refused, dag.ErrDuplicate)) {
			b.refuse(it, refused, fx)
			return
		}
	}
	switch {
	case errors.Is(err, capacity.ErrNeverFits): // the limit may rise again
		b.fail(it, Event{Kind: Failed, Err: err}, fx)
	case err != nil:
		b.fail(it, Event{Kind: Failed, Err: Permanent(err)}, fx)
	case free:
		b.ready.add(it)
	default:
		b.blocked[it.Key] = it
	}
}

// refuse ends an item that the graph does not take.
func (b *board) refuse(it *item, why error, fx *effects) {
	err := fmt.Errorf("%w: %w", ErrDependency, why)
	switch failed := (*dag.FailedError)(nil); {
	case errors.Is(why, dag.ErrDuplicate):
		// Its twin is in the graph, and stays.
		err = fmt.Errorf("%w: %q: %w", ErrDuplicate, it.Key, why)
		b.conclude(it, Event{Kind: Failed, Err: err}, b.conf.redelivery(it), fx)
	case errors.As(why, &failed):
		b.conclude(it, Event{Kind: Cancelled, Err: err}, b.conf.redelivery(it), fx)
		b.failDependents(it.Key, err, fx)
	default:
		b.fail(it, Event{Kind: Failed, Err: Permanent(err)}, fx)
	}
}

// end notes that the claiming has ended, and why unless the source has ended. Tasks that wait for
// unknown tasks are cancelled.
func (b *board) end(why error, fx *effects) {
	b.sourceDone = true
	if b.why == nil {
		b.why = why
	}
	for _, unknown := range b.graph.Unknown() {
		b.failDependents(unknown, fmt.Errorf("%w: it waits for %q, which never came", ErrDependency, unknown), fx)
	}
	b.checkFinished(fx)
}
