package relay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// A subscription receives the stored events that match its filters, and then newly published
// ones.
type subscription struct {
	conn     *connection
	id       string
	filters  []nostr.Filter
	weight   int             // bytes taken from the connection's share of memory
	head     []byte          // start of a message with an event
	headings []heading       // its headings in the index
	ctx      context.Context //nolint:containedctx // ends with the subscription, of which a query is a part
	end      context.CancelCauseFunc

	mu   sync.Mutex
	live bool              // the stored events were sent
	held []held            // events published before it is live
	size int               // bytes taken from the outbox's share of memory for held
	sent map[nostr.ID]bool // once it is live: stored events that may still be delivered again
}

// held is an event published while the stored ones were read.
type held struct {
	id   nostr.ID
	text []byte
}

var (
	errClosed = errors.New("relay: the subscription was closed")
	errBehind = errors.New("relay: too many events were published while the stored ones were read")
)

func newSubscription(c *connection, m *nostr.ReqMessage) *subscription {
	s := &subscription{conn: c, id: m.Subscription, filters: m.Filters}
	s.head = headOf(m.Subscription)
	s.ctx, s.end = context.WithCancelCause(c.ctx)
	return s
}

// headOf returns the part of a message before the event.
func headOf(subscription string) []byte {
	text := nostr.AppendEOSE(nil, subscription)
	text = slices.Replace(text, 0, len(`["EOSE`), []byte(`["EVENT`)...)
	text[len(text)-1] = ','
	return text
}

// wanted reports whether one of the filters matches.
func wanted(filters []nostr.Filter, e *nostr.Event) bool {
	for i := range filters {
		if filters[i].Matches(e) {
			return true
		}
	}
	return false
}

// deliver sends a new event, or holds it until the stored ones are sent. It does not wait:
// it drops a client that is too slow.
func (s *subscription) deliver(id nostr.ID, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil, s.sent[id]:
	case s.live:
		if !s.conn.out.offer(message{s.head, text}) {
			s.conn.drop()
		}
	default:
		s.hold(held{id, text})
	}
}

// hold holds an event if there is room. Otherwise the subscription ends.
func (s *subscription) hold(h held) {
	bytes := message{event: h.text}.size()
	if s.size+bytes > s.conn.out.limit || !s.conn.out.memory.take(bytes) {
		s.end(errBehind)
		return
	}
	s.held = append(s.held, h)
	s.size += bytes
}

// forget releases the room of the held events.
func (s *subscription) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn.out.memory.give(s.size)
	s.held, s.size = nil, 0
}

// goLive sends the held events that are not among the stored ones. After it, events are sent
// as they are published.
func (s *subscription) goLive(stored map[nostr.ID]bool) error {
	for {
		waiting, size := s.takeHeld(stored)
		if waiting == nil {
			return context.Cause(s.ctx)
		}
		err := s.release(waiting, stored)
		s.conn.out.memory.give(size)
		if err != nil {
			return err
		}
	}
}

// release sends held events.
func (s *subscription) release(waiting []held, stored map[nostr.ID]bool) error {
	for _, h := range waiting {
		if stored[h.id] {
			continue
		}
		if err := s.conn.out.put(s.ctx, message{s.head, h.text}); err != nil {
			return err
		}
	}
	return nil
}

// takeHeld takes the held events and their room. If there are none, the subscription goes
// live. A stored event may still be delivered, because it is saved first.
func (s *subscription) takeHeld(stored map[nostr.ID]bool) (waiting []held, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting, size = s.held, s.size
	s.held, s.size = nil, 0
	if s.live = waiting == nil; s.live {
		s.sent = s.conn.server.registry.inWork(stored)
	}
	return waiting, size
}

// A registry holds the subscriptions of all connections.
type registry struct {
	mu    sync.RWMutex
	subs  map[*subscription]struct{}
	index index

	working sync.Mutex
	work    map[nostr.ID]int // events being saved and delivered, and the number of clients that publish each
}

func (r *registry) add(s *subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subs == nil {
		r.subs = map[*subscription]struct{}{}
	}
	r.subs[s] = struct{}{}
	r.index.add(s)
}

func (r *registry) remove(s *subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.subs[s]; ok { // it may have ended for two reasons
		delete(r.subs, s)
		r.index.remove(s)
	}
}

// filed returns the number of headings of a connection's subscriptions.
func (r *registry) filed(c *connection) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return c.filed
}

func (r *registry) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.subs)
}

// begin records that an event is about to be saved and delivered; end records that it was.
func (r *registry) begin(id nostr.ID) {
	r.working.Lock()
	defer r.working.Unlock()
	if r.work == nil {
		r.work = map[nostr.ID]int{}
	}
	r.work[id]++
}

func (r *registry) end(id nostr.ID) {
	r.working.Lock()
	defer r.working.Unlock()
	if r.work[id]--; r.work[id] == 0 {
		delete(r.work, id)
	}
}

// inWork returns the events that may still be delivered.
func (r *registry) inWork(of map[nostr.ID]bool) (some map[nostr.ID]bool) {
	r.working.Lock()
	defer r.working.Unlock()
	for id := range r.work {
		if !of[id] {
			continue
		}
		if some == nil {
			some = map[nostr.ID]bool{}
		}
		some[id] = true
	}
	return some
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
	text := e.AppendJSON(nil)
	for _, s := range wanting {
		s.deliver(e.ID, text)
	}
}
