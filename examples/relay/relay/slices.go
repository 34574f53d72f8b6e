package relay

import (
	"context"
	"errors"

	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/throttle"
)

// A query is many short reads, each an operation of the throttle: one that matches everything waits
// for its turn again and again, and takes no more than the share of its connection. Between two of
// them it holds no transaction.

const (
	// perCost is how many ranges of an index cost as much as a slice. A cursor looks into all of
	// them first.
	perCost = 64
	// sliceBytes ends a slice early, so that the memory of a query is bounded in bytes too.
	sliceBytes = 64 << 10
)

// costOf is the cost of the first slice. It leaves half of the concurrency to others.
func (s *Server) costOf(f nostr.Filter) int {
	return max(min(1+store.Cost(f)/perCost, s.conf.Reads/2), 1)
}

// A reading is a cursor that is read in slices.
type reading struct {
	server *Server
	cursor Cursor
	cost   int // of the next slice
}

func (s *Server) read(f nostr.Filter) *reading {
	return &reading{server: s, cursor: s.conf.Store.Query(f), cost: s.costOf(f)}
}

// slice reads one slice when its turn has come. A record that cannot be read is left out.
func (r *reading) slice(ctx context.Context, next func(Cursor) (more bool, err error)) (more bool, err error) {
	op, err := r.server.throttle.Start(ctx, throttle.Read, r.cost)
	if err != nil {
		return false, err
	}
	defer op.DoneWith(&err)
	r.cost = 1
	more, err = next(r.cursor)
	if errors.Is(err, store.ErrCorrupt) {
		r.server.conf.Logger.Error("a query leaves out a record", "error", err)
		err = nil
	}
	return more, err
}

// stored sends the stored events that a subscription wants, an EOSE, and what was published
// meanwhile. No event is sent twice.
func (s *Server) stored(sub *subscription) error {
	sent := stored{sub: sub, ids: map[nostr.ID]bool{}}
	defer sent.forget()
	for _, f := range sub.filters {
		if err := s.send(&sent, f); err != nil {
			return err
		}
	}
	if err := sub.conn.out.put(sub.ctx, message{text: nostr.AppendEOSE(nil, sub.id)}); err != nil {
		return err
	}
	return sub.goLive(sent.ids)
}

// stored are the stored events that a subscription was sent.
type stored struct {
	sub  *subscription
	ids  map[nostr.ID]bool
	size int // their part of the outbox's share of memory
}

// perSent is the memory of a map for each of them, on average between two doublings.
const perSent = 72

// note takes the memory of those that were added.
func (s *stored) note() error {
	more := perSent*len(s.ids) - s.size
	if !s.sub.conn.out.memory.take(more) {
		return errNoMemory
	}
	s.size += more
	return nil
}

func (s *stored) forget() { s.sub.conn.out.memory.give(s.size) }

// send sends the matches of one filter, up to its limit. It reads the next slice when there is room
// for it.
func (s *Server) send(sent *stored, f nostr.Filter) error {
	out, r := sent.sub.conn.out, s.read(f)
	for more := f.Limit > 0; more; {
		room, err := out.reserve(sent.sub.ctx)
		if err != nil {
			return err
		}
		var batch [][]byte
		if batch, more, err = r.batch(sent, room); err == nil {
			err = sent.note()
		}
		if err != nil {
			out.unreserve(room)
			return err
		}
		if err := out.fill(batch, room); err != nil {
			return err
		}
	}
	return nil
}

// batch reads a slice of events that were not sent yet, up to the one that fills the room.
func (r *reading) batch(sent *stored, room int) (batch [][]byte, more bool, err error) {
	size := 0
	more, err = r.slice(sent.sub.ctx, func(c Cursor) (bool, error) {
		return c.Next(r.server.conf.Slice, func(e *nostr.Event) bool {
			if !sent.ids[e.ID] {
				sent.ids[e.ID] = true
				text := nostr.AppendEventMessage(nil, sent.sub.id, e)
				batch = append(batch, text)
				size += message{text: text}.size()
			}
			return size < room
		})
	})
	return batch, more, err
}

// count answers a COUNT.
func (s *Server) count(q *query, c *connection) error {
	n := 0
	for i, f := range q.filters {
		r := s.read(f)
		for more := true; more; {
			var err error
			more, err = r.slice(q.ctx, func(c Cursor) (more bool, err error) {
				found := 0
				found, more, err = countSlice(c, s.conf.Slice, q.filters[:i])
				n += found
				return more, err
			})
			if err != nil {
				return err
			}
		}
	}
	return c.out.put(q.ctx, message{text: nostr.AppendCount(nil, q.id, n)})
}

// countSlice counts the events of a slice that none of the filters before has counted. The first
// filter needs no look at the events.
func countSlice(c Cursor, keys int, before []nostr.Filter) (n int, more bool, err error) {
	if len(before) == 0 {
		return c.Count(keys)
	}
	more, err = c.Next(keys, func(e *nostr.Event) bool {
		if !wanted(before, e) {
			n++
		}
		return true
	})
	return n, more, err
}
