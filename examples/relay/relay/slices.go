package relay

import (
	"context"
	"errors"

	"github.com/mailru/easyjson"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/throttle"
)

// A query is many short reads, each an operation of the throttle: a query that matches
// everything queues again for each slice, and takes no more than the share of its
// connection. Between two slices it holds no transaction.

// sliceBytes ends a slice early, so that the memory of a query is bounded in bytes too.
const sliceBytes = 64 << 10

// slice waits for the throttle and reads one slice. It skips a corrupt record.
func (s *Server) slice(ctx context.Context, next func() (more bool, err error)) (more bool, err error) {
	op, err := s.throttle.Acquire(ctx, throttle.Read, 1)
	if err != nil {
		return false, err
	}
	defer op.DoneWith(&err)
	more, err = next()
	if errors.Is(err, store.ErrCorrupt) {
		corrupt := err
		s.unread.Do(func() { s.conf.Logger.Error("a query leaves out a record", "error", corrupt) })
		err = nil
	}
	return more, err
}

// sendStored sends the stored events that match a subscription, and an EOSE. An event that
// matches several filters is sent for each of them.
func (x *query) sendStored() error {
	for _, f := range x.filters {
		if err := x.sendMatching(f); err != nil {
			return err
		}
	}
	return x.conn.out.put(x.ctx, protocol.Encode("EOSE", x.id))
}

// sendMatching sends the events that match one filter, up to its limit. It waits for room
// before it reads the next slice.
func (x *query) sendMatching(f nostr.Filter) error {
	s, out := x.conn.server, x.conn.out
	cursor := s.conf.Store.Query(f)
	for more := !f.LimitZero; more; {
		room, err := out.reserve(x.ctx)
		if err != nil {
			return err
		}
		var batch [][]byte
		more, err = s.slice(x.ctx, func() (more bool, err error) {
			batch, more, err = x.batch(cursor, room)
			return more, err
		})
		if err != nil {
			out.release(room)
			return err
		}
		if err := out.fill(batch, room); err != nil {
			return err
		}
	}
	return nil
}

// batch reads a slice of events, and stops after the event that fills the room.
func (x *query) batch(cursor Cursor, room int) (batch [][]byte, more bool, err error) {
	size := 0
	more, err = cursor.Next(x.conn.server.conf.Slice, func(event []byte) bool {
		text := protocol.EventMessage(x.id, event)
		batch = append(batch, text)
		size += sizeOf(text)
		return size < room
	})
	return batch, more, err
}

func (x *query) count() error {
	s, n := x.conn.server, 0
	for i, f := range x.filters {
		cursor := s.conf.Store.Query(f)
		for more := true; more; {
			var err error
			more, err = s.slice(x.ctx, func() (bool, error) {
				found, more, err := countSlice(cursor, s.conf.Slice, x.filters[:i])
				n += found
				return more, err
			})
			if err != nil {
				return err
			}
		}
	}
	return x.conn.out.put(x.ctx, protocol.Encode("COUNT", x.id, map[string]int{"count": n}))
}

// countSlice counts the events of a slice that no earlier filter has counted. The count for the
// first filter reads no events: TestFloods has a p99 of 11 ms beside such counts, and of 41 ms
// beside counts that read the events.
func countSlice(c Cursor, keys int, before nostr.Filters) (n int, more bool, err error) {
	if len(before) == 0 {
		return c.Count(keys)
	}
	more, err = c.Next(keys, func(event []byte) bool {
		var e nostr.Event
		if easyjson.Unmarshal(event, &e) == nil && !matchesAny(before, func(f *nostr.Filter) bool { return protocol.Matches(f, &e) }) {
			n++
		}
		return true
	})
	return n, more, err
}
