package fleet

import (
	"context"
	"sync"
)

// An outbox keeps the newest write of each key until it is sent, so that a slow store holds up
// nothing and gets nothing stale.
type outbox struct {
	mu     sync.Mutex
	order  []string
	writes map[string]Write
	some   chan struct{}
}

func newOutbox() outbox { return outbox{writes: map[string]Write{}, some: make(chan struct{}, 1)} }

func (o *outbox) put(w Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, waits := o.writes[w.Key]; !waits {
		o.order = append(o.order, w.Key)
	}
	o.writes[w.Key] = w
	select {
	case o.some <- struct{}{}:
	default:
	}
}

// take waits for a write, and returns false when ctx ends.
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
	if len(o.order) == 0 {
		return Write{}, false
	}
	w := o.writes[o.order[0]]
	delete(o.writes, w.Key)
	o.order = o.order[1:]
	return w, true
}
