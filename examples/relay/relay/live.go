package relay

import (
	"sync"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// A registry delivers events to the subscriptions of all connections.
type registry struct {
	mu    sync.RWMutex
	index index
}

func (r *registry) add(x *query) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.add(x)
}

func (r *registry) remove(x *query) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.remove(x)
}

// publish delivers an event to the matching subscriptions, also while their stored events are
// sent: they may receive an event of that time twice. It encodes the event once, for all. It does
// not wait: it drops a client that is too slow.
func (r *registry) publish(e *nostr.Event) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	wanting := r.index.wanting(e)
	if len(wanting) == 0 {
		return
	}
	text := protocol.AppendJSON(nil, e)
	for _, x := range wanting {
		if x.ctx.Err() == nil && !x.conn.out.offer(message{x.head, text}) {
			x.conn.drop()
		}
	}
}
