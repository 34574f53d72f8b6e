package relay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/nostr"
)

// queries holds the queries of a connection: its subscriptions, and their reads of the
// store, and the reads of COUNTs. Few run at once; the others wait here, without a
// goroutine.
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
	weight  int           // bytes taken from the connection's share of memory
	sub     *subscription // nil for a COUNT
}

func (q *queries) init(c *connection) {
	q.conn, q.open = c, map[string]*subscription{}
}

// subscribe opens a subscription, and replaces one with the same id.
func (q *queries) subscribe(m *nostr.ReqMessage) {
	q.close(m.Subscription)
	s := newSubscription(q.conn, m)
	if err := q.enter(&query{ctx: s.ctx, id: s.id, filters: s.filters, sub: s}); err != nil {
		s.end(errClosed)
		q.refuse(m.Subscription, err)
	}
}

// count answers a COUNT.
func (q *queries) count(m *nostr.CountMessage) {
	if err := q.enter(&query{ctx: q.conn.ctx, id: m.Subscription, filters: m.Filters}); err != nil {
		q.refuse(m.Subscription, err)
	}
}

var (
	errTooMany       = errors.New("relay: too many subscriptions")
	errTooManyCounts = errors.New("relay: too many COUNTs")
)

// refuse answers a client with too many subscriptions or COUNTs, or without memory for one.
func (q *queries) refuse(id string, err error) {
	server := q.conn.server
	at, reason := keeping, noMemory("the subscription")
	switch {
	case errors.Is(err, errTooMany):
		at, reason = subscribing, nostr.Reason(nostr.RateLimited, "%d subscriptions are open: close one first", server.conf.Subscriptions)
	case errors.Is(err, errTooManyCounts):
		at, reason = counting, nostr.Reason(nostr.RateLimited, "%d COUNTs are not answered yet: wait for one first", server.conf.Subscriptions)
	}
	server.counts.refused(at)
	q.conn.answer(nostr.AppendClosed(nil, id, reason))
}

// noMemory returns the reason that there is no memory, in the protocol's words.
func noMemory(what string) string {
	return nostr.Reason(nostr.RateLimited, "no memory for %s: ask for less, close others, or come back in %d s", what, wholeSeconds(comeBack))
}

// enter registers a subscription before its query starts, so that no event is missed in
// between. The error is errTooMany, errTooManyCounts or errNoMemory.
func (q *queries) enter(next *query) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch most := q.conn.server.conf.Subscriptions; {
	case next.sub != nil && len(q.open) >= most:
		return errTooMany
	case next.sub == nil && q.counting >= most:
		return errTooManyCounts
	}
	next.weight = weightOf(next.filters, q.conn.server.registry.filed(q.conn))
	if !q.conn.kept.take(next.weight) {
		return errNoMemory
	}
	if next.sub != nil {
		next.sub.weight = next.weight
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
	return nil
}

// close ends the subscription with an id, if there is one.
func (q *queries) close(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.open[id]; s != nil {
		q.remove(s)
	}
}

// remove ends a subscription, unless it has been removed already.
func (q *queries) remove(s *subscription) {
	if q.open[s.id] != s {
		return
	}
	delete(q.open, s.id)
	s.end(errClosed)
	q.conn.server.registry.remove(s)
	s.forget()
	q.conn.kept.give(s.weight)
	q.waiting = slices.DeleteFunc(q.waiting, func(w *query) bool { return w.sub == s })
}

// endAll ends the subscriptions and the waiting COUNTs.
func (q *queries) endAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.open {
		q.remove(s)
	}
	for _, w := range q.waiting { // COUNTs
		q.forget(w)
	}
	q.waiting = nil
}

// run performs queries until none is waiting.
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

// perform answers a query, or sends the reason why it ended.
func (q *queries) perform(next *query) {
	server := q.conn.server
	var err error
	if next.sub != nil {
		err = server.stored(next.sub)
	} else {
		err = server.count(next, q.conn)
	}
	cause := context.Cause(next.ctx) // read it before done cancels the context
	q.done(next, err)
	reason := ""
	switch {
	case err == nil, errors.Is(cause, errClosed), q.conn.ctx.Err() != nil:
		return
	case errors.Is(cause, errBehind):
		server.counts.refused(delivering)
		reason = nostr.Reason(nostr.Failed, "more was published than can wait while stored events are sent: ask again")
	case errors.Is(err, errNoMemory):
		server.counts.refused(keeping)
		reason = noMemory("the answer")
	case errors.Is(err, weir.ErrRefused):
		server.counts.refused(querying)
		reason = busy("queries", err)
	default:
		server.conf.Logger.Error("a query failed", "error", err)
		reason = nostr.Reason(nostr.Failed, "the store could not be read: try again")
	}
	q.conn.answer(nostr.AppendClosed(nil, next.id, reason))
}

// done removes a finished query: a COUNT, or a subscription that failed.
func (q *queries) done(next *query, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case next.sub == nil:
		q.forget(next)
	case err != nil:
		q.remove(next.sub)
	}
}

// forget removes a COUNT.
func (q *queries) forget(count *query) {
	q.counting--
	q.conn.kept.give(count.weight)
}
