package store

import (
	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"
	"github.com/tidwall/gjson"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// A Cursor reads the events that match a filter, newest first, and events of the same second
// by ascending ID. It is not safe for concurrent use. It holds no resources of the store
// between two calls and needs no closing.
type Cursor struct {
	store  *Store
	filter nostr.Filter
	index  []byte // common prefix of all keys of the ranges
	exact  bool   // of the plan
	left   int    // of the limit, negative for no bound

	ids   []string // still to be looked up
	found []stamp  // stamps of the IDs looked up
	dry   []*span  // ranges to be read next
	heads merger   // the other ranges, each with at least one entry
	last  stamp    // the last stamp visited
	begun bool     // last is set
}

// Query returns a cursor over the events that match a filter, at most as many as its limit. The
// filter's slices and maps must not change while the cursor is in use.
func (s *Store) Query(f nostr.Filter) *Cursor {
	c := &Cursor{store: s, filter: f, left: f.Limit}
	if f.Limit == 0 && !f.LimitZero {
		c.left = -1
	}
	if empty(&f) {
		return c
	}
	p := planOf(&f)
	c.ids, c.exact = p.ids, p.exact
	for _, prefix := range p.prefixes {
		c.dry = append(c.dry, newSpan(prefix, &f, firstWindow(c.left, len(p.prefixes))))
		c.index = prefix[:1]
	}
	if len(p.prefixes) == 1 {
		c.index = p.prefixes[0]
	}
	return c
}

// Next reads about the given number of keys and passes their events to emit, as JSON, until emit
// returns false: emit has then taken that event and wants no more now. Next reports whether
// there may be more. The next call continues after the last event, even if events were saved
// meanwhile: no event comes twice, and an event that was there from the start is
// missed only if it was replaced.
//
// A call is one transaction, and its duration is bounded by keys, which counts index entries
// and records. Emit runs inside it, and must not block.
//
// The error is [ErrClosed], [ErrCorrupt], or an error of Badger. After ErrCorrupt more is
// true, and the next call continues after the record.
func (c *Cursor) Next(keys int, emit func(event []byte) bool) (more bool, err error) {
	return c.walk(keys, func(tx *badger.Txn, s stamp) (goOn bool, err error) {
		event, err := c.match(tx, s)
		if event == nil {
			return true, err
		}
		c.take()
		return emit(event), nil
	})
}

// Count is Next for callers that only need the number of events. It reads no records if the keys
// of the ranges say which events match.
func (c *Cursor) Count(keys int) (n int, more bool, err error) {
	more, err = c.walk(keys, func(tx *badger.Txn, s stamp) (goOn bool, err error) {
		if !c.exact {
			if event, err := c.match(tx, s); event == nil {
				return true, err
			}
		}
		c.take()
		n++
		return true, nil
	})
	return n, more, err
}

func (c *Cursor) take() {
	if c.left > 0 {
		c.left--
	}
}

// match returns the record of a stamp, nil if its event does not match or was removed.
func (c *Cursor) match(tx *badger.Txn, s stamp) (record []byte, err error) {
	record, err = valueOf(tx, key(inRecords, s[:]))
	switch {
	case err != nil || record == nil:
		return nil, err
	case !gjson.ValidBytes(record):
		return nil, corrupt(s[:])
	case c.exact:
		return record, nil
	}
	e, err := decode(s[:], record)
	if err != nil || !protocol.Matches(&c.filter, &e) {
		return nil, err
	}
	return record, nil
}

// walk visits the next stamps, each once, until it has read the given number of keys.
func (c *Cursor) walk(keys int, visit func(*badger.Txn, stamp) (goOn bool, err error)) (more bool, err error) {
	if err := c.store.enter(); err != nil {
		return false, err
	}
	defer c.store.users.Done()
	tx := c.store.db.NewTransaction(false)
	defer tx.Discard()
	for len(c.ids) > 0 && keys > 0 {
		if err := c.lookUp(tx); err != nil {
			return true, err
		}
		keys--
	}
	if len(c.ids) > 0 {
		return true, nil
	}
	r := reads{tx: tx, index: c.index, filter: &c.filter}
	defer func() {
		if r.it != nil {
			r.it.Close()
		}
	}()
	for c.left != 0 {
		switch {
		case len(c.dry) == 0 && len(c.heads) == 0:
			return false, nil
		case keys <= 0:
			return true, nil
		case len(c.dry) > 0:
			read, err := c.fill(&r, keys)
			if err != nil {
				return true, err
			}
			keys -= read
			continue
		}
		s := c.pop()
		if c.begun && !c.last.before(s) {
			continue // the same event in another range
		}
		c.last, c.begun = s, true
		keys--
		if goOn, err := visit(tx, s); err != nil || !goOn {
			return c.left != 0, err
		}
	}
	return false, nil
}
