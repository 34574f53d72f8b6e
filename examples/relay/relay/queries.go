package relay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/nostr"
)

// queries are those of a connection: its subscriptions, and what reads the store for them or for a COUNT. Few run at once; the others
// wait here, where they take no goroutine.
type queries struct {
	conn *connection

	mu       sync.Mutex
	open     map[string]*subscription
	counting int // COUNTs that wait or run
	waiting  []*query
	running  int
}

// A query reads the store for a subscription or a COUNT.
type query struct {
	ctx     context.Context //nolint:containedctx // of the subscription, or of the connection
	id      string
	filters []nostr.Filter
	sub     *subscription // nil for a COUNT
}

func (q *queries) init(c *connection) {
	q.conn, q.open = c, map[string]*subscription{}
}

// subscribe opens a subscription, in place of one with the same id.
func (q *queries) subscribe(m *nostr.ReqMessage) {
	q.close(m.Subscription)
	s := newSubscription(q.conn, m)
	if !q.enter(&query{ctx: s.ctx, id: s.id, filters: s.filters, sub: s}) {
		s.end(errClosed)
		q.refuse(m.Subscription)
	}
}

// count answers a COUNT.
func (q *queries) count(m *nostr.CountMessage) {
	if !q.enter(&query{ctx: q.conn.ctx, id: m.Subscription, filters: m.Filters}) {
		q.refuse(m.Subscription)
	}
}

// refuse answers where there are too many subscriptions.
func (q *queries) refuse(id string) {
	q.conn.server.counts.refused(subscribing)
	q.conn.answer(nostr.AppendClosed(nil, id,
		nostr.Reason(nostr.RateLimited, "%d subscriptions are open: close one first", q.conn.server.conf.Subscriptions)))
}

// enter registers a subscription before its query starts, so that no event is missed between the two.
func (q *queries) enter(next *query) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open)+q.counting >= q.conn.server.conf.Subscriptions {
		return false
	}
	if next.sub != nil {
		q.open[next.id] = next.sub
		q.conn.server.registry.add(next.sub)
	} else {
		q.counting++
	}
	q.waiting = append(q.waiting, next)
	if q.running < q.conn.server.conf.Queries {
		q.running++
		q.conn.start(q.run)
	}
	return true
}

// close ends the subscription with an id, if there is one.
func (q *queries) close(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.open[id]; s != nil {
		q.remove(s)
	}
}

func (q *queries) remove(s *subscription) {
	s.end(errClosed)
	q.conn.server.registry.remove(s)
	if q.open[s.id] == s {
		delete(q.open, s.id)
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(w *query) bool { return w.sub == s })
}

// endAll ends the subscriptions, and what waits.
func (q *queries) endAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.open {
		q.remove(s)
	}
	q.waiting = nil
}

// run performs queries until none waits.
func (q *queries) run() {
	for next := q.next(); next != nil; next = q.next() {
		q.perform(next)
	}
}

func (q *queries) next() *query {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.running--
		return nil
	}
	next := q.waiting[0]
	q.waiting = q.waiting[1:]
	return next
}

// perform answers a query, or says why it ends.
func (q *queries) perform(next *query) {
	server := q.conn.server
	var err error
	if next.sub != nil {
		err = server.stored(next.sub)
	} else {
		err = server.count(next, q.conn)
	}
	cause := context.Cause(next.ctx) // before done ends it
	q.done(next, err)
	reason := ""
	switch {
	case err == nil, errors.Is(cause, errClosed), q.conn.ctx.Err() != nil:
		return
	case errors.Is(cause, errBehind):
		server.counts.refused(delivering)
		reason = nostr.Reason(nostr.Failed, "more was published than can wait while stored events are sent: ask again")
	case errors.Is(err, weir.ErrRefused):
		server.counts.refused(querying)
		reason = busy("queries", err)
	default:
		server.conf.Logger.Error("a query failed", "error", err)
		reason = nostr.Reason(nostr.Failed, "the store could not be read: try again")
	}
	q.conn.answer(nostr.AppendClosed(nil, next.id, reason))
}

// done removes a query that is over: a COUNT, or a subscription that failed.
func (q *queries) done(next *query, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case next.sub == nil:
		q.counting--
	case err != nil:
		q.remove(next.sub)
	}
}
