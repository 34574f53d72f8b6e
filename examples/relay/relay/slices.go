package relay

import (
	"context"
	"errors"

	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/throttle"
)

// A query is many short reads, each an operation of the throttle: a query that matches
// everything queues again for each slice, and takes no more than the share of its
// connection. Between two slices it holds no transaction.

const (
	// perCost is the number of index ranges that cost as much as a slice. A cursor reads
	// from every range first.
	perCost = 64
	// sliceBytes ends a slice early, so that the memory of a query is bounded in bytes
	// too.
	sliceBytes = 64 << 10
)

// costOf returns the cost of the first slice. It is at most half of the concurrent cost, so
// that others can run.
func (s *Server) costOf(f nostr.Filter) int {
	return max(min(1+store.Cost(f)/perCost, s.conf.Reads/2), 1)
}

// A reading is a cursor read in slices.
type reading struct {
	server *Server
	cursor Cursor
	cost   int // of the next slice
}

func (s *Server) read(f nostr.Filter) *reading {
	return &reading{server: s, cursor: s.conf.Store.Query(f), cost: s.costOf(f)}
}

// slice waits for the throttle and reads one slice. It skips a corrupt record.
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

// stored sends the stored events that match a subscription, an EOSE, and the events
// published meanwhile. It sends no event twice.
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

// stored holds the ids of the stored events sent to a subscription.
type stored struct {
	sub  *subscription
	ids  map[nostr.ID]bool
	size int // bytes taken from the outbox's share of memory for ids
}

// perSent is the memory of a map for each id, on average between two doublings.
const perSent = 72

// note takes memory for the ids added since the last call.
func (s *stored) note() error {
	more := perSent*len(s.ids) - s.size
	if !s.sub.conn.out.memory.take(more) {
		return errNoMemory
	}
	s.size += more
	return nil
}

func (s *stored) forget() { s.sub.conn.out.memory.give(s.size) }

// send sends the events that match one filter, up to its limit. It waits for room before it
// reads the next slice.
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

// batch reads a slice of events that were not sent yet, and stops after the event that fills
// the room.
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

// countSlice counts the events of a slice that no earlier filter has counted. The first
// filter need not read the events.
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
