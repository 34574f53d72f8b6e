package relay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/protocol"
)

// A query is a REQ or a COUNT of a client, which reads the stored events that match its
// filters. A REQ stays open as a subscription: it then receives the events that are published.
type query struct {
	conn    *connection
	id      string
	filters nostr.Filters
	counts  bool            // it is a COUNT
	weight  int             // bytes taken from the connection's share of memory
	removed bool            // under the lock of the connection's queries
	ctx     context.Context //nolint:containedctx // ends with the query
	end     context.CancelCauseFunc
}

// queries holds the queries of a connection. Few read the store at once; the others wait here,
// without a goroutine.
type queries struct {
	conn *connection

	mu       sync.Mutex
	open     map[string]*query // the subscriptions
	counting int               // COUNTs that wait or run
	waiting  []*query
	running  int
}

var errClosed = errors.New("relay: the subscription was closed")

// subscribe opens a subscription, and replaces one with the same id.
func (q *queries) subscribe(id string, filters nostr.Filters, text int) {
	q.close(id)
	q.ask(newQuery(q.conn, id, filters), text)
}

func (q *queries) count(id string, filters nostr.Filters, text int) {
	x := newQuery(q.conn, id, filters)
	x.counts = true
	q.ask(x, text)
}

func newQuery(c *connection, id string, filters nostr.Filters) *query {
	x := &query{conn: c, id: id, filters: filters}
	x.ctx, x.end = context.WithCancelCause(c.ctx)
	return x
}

// ask starts a query, or refuses it. Its message had the given length.
func (q *queries) ask(x *query, text int) {
	if at, reason := q.enter(x, text); reason != "" {
		x.end(errClosed)
		q.conn.server.counts.refused(at)
		q.conn.answer("CLOSED", x.id, reason)
	}
}

// noMemory returns the reason for a refusal without memory, in the protocol's words.
func noMemory(what string) string {
	return protocol.Reason(protocol.RateLimited, "no memory for %s: ask for less, close others, or come back in %d s", what, wholeSeconds(comeBack))
}

// enter lets a query in, or returns the reason why not. A subscription is registered before it
// reads the store, so that no event is missed in between.
func (q *queries) enter(x *query, text int) (at stage, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.conn.server
	switch most := s.conf.Subscriptions; {
	case x.counts && q.counting >= most:
		return counting, protocol.Reason(protocol.RateLimited, "%d COUNTs are not answered yet: wait for one first", most)
	case !x.counts && len(q.open) >= most:
		return subscribing, protocol.Reason(protocol.RateLimited, "%d subscriptions are open: close one first", most)
	}
	x.weight = weightOf(x, text)
	if !q.conn.kept.take(x.weight) {
		return keeping, noMemory("the subscription")
	}
	if x.counts {
		q.counting++
	} else {
		q.open[x.id] = x
		s.live.add(x)
		s.counts.subscriptions.Inc()
	}
	q.waiting = append(q.waiting, x)
	if q.running < s.conf.Queries {
		q.running++
		q.conn.start(q.run)
	}
	return "", ""
}

func (q *queries) close(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x := q.open[id]; x != nil {
		q.remove(x)
	}
}

// remove ends a query and releases its memory, unless that was done already.
func (q *queries) remove(x *query) {
	if x.removed {
		return
	}
	x.removed = true
	x.end(errClosed)
	q.waiting = slices.DeleteFunc(q.waiting, func(w *query) bool { return w == x })
	if x.counts {
		q.counting--
	} else {
		delete(q.open, x.id)
		q.conn.server.live.remove(x)
		q.conn.server.counts.subscriptions.Dec()
	}
	q.conn.kept.give(x.weight)
}

// endAll ends the subscriptions and the waiting COUNTs.
func (q *queries) endAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range q.open {
		q.remove(x)
	}
	for _, x := range slices.Clone(q.waiting) {
		q.remove(x)
	}
}

// run performs queries until no query is waiting.
func (q *queries) run() {
	for x := q.next(); x != nil; x = q.next() {
		q.perform(x)
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
func (q *queries) perform(x *query) {
	var err error
	if x.counts {
		err = x.count()
	} else {
		err = x.sendStored()
	}
	cause := context.Cause(x.ctx) // read it before finish cancels the context
	q.finish(x, err)
	s, at, reason := q.conn.server, stage(""), ""
	switch {
	case err == nil, errors.Is(cause, errClosed), q.conn.ctx.Err() != nil:
		return
	case errors.Is(err, errNoMemory):
		at, reason = keeping, noMemory("the answer")
	case errors.Is(err, weir.ErrRefused):
		at, reason = querying, refusal("queries", err)
	default:
		s.unread.Do(func() { s.conf.Logger.Error("a query failed", "error", err) })
		reason = protocol.Reason(protocol.Failed, "the store could not be read: try again")
	}
	if at != "" {
		s.counts.refused(at)
	}
	q.conn.answer("CLOSED", x.id, reason)
}

// finish removes a COUNT that was answered, or a query that failed.
func (q *queries) finish(x *query, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x.counts || err != nil {
		q.remove(x)
	}
}

// The memory of queries, in bytes. TestQueriesWeighWhatTheyTake compares it with the heap.
const (
	ofQuery  = 640 // itself, its context, and its places in two maps
	ofFilter = 256
	ofTags   = 384 // the map of a filter with tags
	ofTag    = 64
	ofValue  = 16 // beside its text, which is a part of the message
)

// weightOf returns the memory of a query whose message has the given length. A long text takes up
// to an eighth more.
func weightOf(x *query, text int) int {
	bytes := ofQuery + text + text/8
	for _, f := range x.filters {
		bytes += ofFilter + ofValue*(cap(f.IDs)+cap(f.Authors)+cap(f.Kinds))
		if len(f.Tags) > 0 {
			bytes += ofTags
		}
		for _, values := range f.Tags {
			bytes += ofTag + ofValue*cap(values)
		}
	}
	return bytes
}
