package relay

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// live is the state of a subscription that receives published events. While the stored events
// are read, it holds the published ones.
type live struct {
	head []byte // start of a message with an event

	mu   sync.Mutex
	on   bool            // the stored events were sent
	held []held          // events published before it is on
	size int             // bytes taken from the outbox's share of memory for held
	sent map[string]bool // once it is on: stored events that may still be delivered again
}

// held is an event published while the stored ones were read.
type held struct {
	id   string
	text []byte
}

var errBehind = errors.New("relay: too many events were published while the stored ones were read")

// deliver sends a new event, or holds it until the stored ones are sent. It does not wait:
// it drops a client that is too slow.
func (x *query) deliver(id string, text []byte) {
	l := &x.live
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case x.ctx.Err() != nil, l.sent[id]:
	case l.on:
		if !x.conn.out.offer(message{l.head, text}) {
			x.conn.drop()
		}
	default:
		x.hold(held{strings.Clone(id), text})
	}
}

// hold holds an event if there is room. Otherwise the subscription ends.
func (x *query) hold(h held) {
	l, bytes := &x.live, message{event: h.text}.size()
	if l.size+bytes > x.conn.out.limit || !x.conn.out.memory.take(bytes) {
		x.end(errBehind)
		return
	}
	l.held = append(l.held, h)
	l.size += bytes
}

// forget releases the room of the held events.
func (x *query) forget() {
	x.live.mu.Lock()
	defer x.live.mu.Unlock()
	x.conn.out.memory.give(x.live.size)
	x.live.held, x.live.size = nil, 0
}

// goLive sends the held events that are not among the stored ones. After it, events are sent
// as they are published.
func (x *query) goLive(stored map[string]bool) error {
	for {
		waiting, size := x.takeHeld(stored)
		if waiting == nil {
			return context.Cause(x.ctx)
		}
		err := x.release(waiting, stored)
		x.conn.out.memory.give(size)
		if err != nil {
			return err
		}
	}
}

func (x *query) release(waiting []held, stored map[string]bool) error {
	for _, h := range waiting {
		if stored[h.id] {
			continue
		}
		if err := x.conn.out.put(x.ctx, message{x.live.head, h.text}); err != nil {
			return err
		}
	}
	return nil
}

// takeHeld takes the held events and their room. If there are none, the subscription goes
// live. A stored event may still be delivered, because it is saved first.
func (x *query) takeHeld(stored map[string]bool) (waiting []held, size int) {
	l := &x.live
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, size = l.held, l.size
	l.held, l.size = nil, 0
	if l.on = waiting == nil; l.on {
		l.sent = x.conn.server.registry.inWork(stored)
	}
	return waiting, size
}

// A registry delivers events to the subscriptions of all connections.
type registry struct {
	mu    sync.RWMutex
	index index

	working sync.Mutex
	work    map[string]int // events being saved and delivered, and the number of clients that publish each
}

func newRegistry() *registry { return &registry{index: index{}, work: map[string]int{}} }

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

// publish delivers an event to the matching subscriptions. It encodes the event once, for
// all.
func (r *registry) publish(e *nostr.Event) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	wanting := r.index.wanting(e)
	if len(wanting) == 0 {
		return
	}
	text := protocol.AppendJSON(nil, e)
	for _, x := range wanting {
		x.deliver(e.ID, text)
	}
}

// begin records that an event is about to be saved and delivered; end records that it was.
func (r *registry) begin(id string) {
	r.working.Lock()
	defer r.working.Unlock()
	r.work[id]++
}

func (r *registry) end(id string) {
	r.working.Lock()
	defer r.working.Unlock()
	if r.work[id]--; r.work[id] == 0 {
		delete(r.work, id)
	}
}

// inWork returns the events that may still be delivered.
func (r *registry) inWork(of map[string]bool) (some map[string]bool) {
	r.working.Lock()
	defer r.working.Unlock()
	for id := range r.work {
		if !of[id] {
			continue
		}
		if some == nil {
			some = map[string]bool{}
		}
		some[strings.Clone(id)] = true // not with its message
	}
	return some
}
