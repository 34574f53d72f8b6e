package fleet

import (
	"context"
	"slices"
	"sync"
)

// An outbox keeps the newest write of each key until it is sent, so that a slow store delays no
// member and gets no stale writes. It gives out one write of a key at a time, so that an older
// write cannot come last. Swaps of several revisions may be on their way: at most one of them
// applies.
type outbox struct {
	mu     sync.Mutex
	order  []string // the keys of the writes that wait, in order
	writes map[string]Write
	busy   map[string][]Write // writes that are on their way
	some   chan struct{}
}

func newOutbox() outbox {
	return outbox{writes: map[string]Write{}, busy: map[string][]Write{}, some: make(chan struct{}, 1)}
}

func (o *outbox) put(w Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, waits := o.writes[w.Key]; !waits && w.Swap { // all members wait for a term
		o.order = slices.Insert(o.order, 0, w.Key)
	} else if !waits {
		o.order = append(o.order, w.Key)
	}
	o.writes[w.Key] = w
	o.wake()
}

// wake makes one waiting call of take look again. A call that takes a write wakes the next call.
func (o *outbox) wake() {
	select {
	case o.some <- struct{}{}:
	default:
	}
}

// take waits for a write, and returns false when ctx ends. Call sent once the write has ended, and
// then take again: a write of its key may have waited for that.
func (o *outbox) take(ctx context.Context) (Write, bool) {
	for {
		if w, ok := o.first(); ok {
			return w, true
		}
		select {
		case <-o.some:
		case <-ctx.Done():
			return Write{}, false
		}
	}
}

func (o *outbox) first() (Write, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.order, func(key string) bool { return o.free(o.writes[key]) })
	if i < 0 {
		return Write{}, false
	}
	w := o.writes[o.order[i]]
	delete(o.writes, w.Key)
	o.order = slices.Delete(o.order, i, i+1)
	o.busy[w.Key] = append(o.busy[w.Key], w)
	if len(o.order) > 0 {
		o.wake()
	}
	return w, true
}

// free reports whether a write may go while other writes of its key are on their way. Only swaps of
// different revisions may go at the same time.
func (o *outbox) free(w Write) bool {
	return !slices.ContainsFunc(o.busy[w.Key], func(other Write) bool { return !w.Swap || !other.Swap || w.Rev == other.Rev })
}

// sent records that a write has ended. It drops a waiting swap of the same revision. That swap can
// no longer apply, or comes again within a refresh, and would only delay the next swap.
func (o *outbox) sent(w Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	same := func(other Write) bool { return other.Swap == w.Swap && other.Rev == w.Rev }
	if o.busy[w.Key] = slices.DeleteFunc(o.busy[w.Key], same); len(o.busy[w.Key]) == 0 {
		delete(o.busy, w.Key)
	}
	if next, waits := o.writes[w.Key]; waits && w.Swap && same(next) {
		delete(o.writes, w.Key)
		o.order = slices.DeleteFunc(o.order, func(key string) bool { return key == w.Key })
	}
}
