package store

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// A Cursor reads the events that match a filter, newest first, and of those of one second the one
// with the lowest ID first. One goroutine at a time uses it. It holds nothing of the store between
// two calls and needs no closing.
type Cursor struct {
	store  *Store
	filter nostr.Filter
	index  []byte // the prefix of all keys of the ranges
	exact  bool   // of the plan
	left   int    // of the limit, negative for no bound

	ids   []nostr.ID // still to be looked up
	found []stamp    // those that were
	dry   []*span    // ranges that are read next
	heads merger     // the others, each with an entry
	last  stamp      // the last that was visited
	begun bool       // there was one
}

// Query returns a cursor over the events that match a filter, at most as many as its limit. The
// filter's slices and maps must not change while the cursor is in use.
func (s *Store) Query(f nostr.Filter) *Cursor {
	c := &Cursor{store: s, filter: f, left: f.Limit}
	if empty(&f) {
		return c
	}
	p := planOf(&f)
	c.ids, c.exact = p.ids, p.exact
	for _, prefix := range p.prefixes {
		c.dry = append(c.dry, newSpan(prefix, &f, firstWindow(f.Limit, len(p.prefixes))))
		c.index = prefix[:1]
	}
	if len(p.prefixes) == 1 {
		c.index = p.prefixes[0]
	}
	return c
}

// Cost returns how many ranges of keys, or single keys, the cursor of a filter looks at before its
// first event: 1 for the simplest, up to 2,000, or more if the filter has more values.
func Cost(f nostr.Filter) int {
	if empty(&f) {
		return 1
	}
	p := planOf(&f)
	return len(p.ids) + len(p.prefixes)
}

// Next reads about so many keys and passes the events among them to emit, until emit returns false:
// it has taken that event and wants no other now. Next reports whether there may be more. The next
// call goes on after the last event, also if events were saved or deleted meanwhile: none comes
// twice, and none that was there from the start is missed, unless it was replaced or deleted.
//
// A call is one transaction, and its duration is bounded by keys, which counts index entries and
// records. Emit runs in it, and must not wait.
//
// The error is [ErrClosed], [ErrCorrupt], or what Badger returns. After ErrCorrupt more is true,
// and the next call goes on after the record.
func (c *Cursor) Next(keys int, emit func(*nostr.Event) bool) (more bool, err error) {
	return c.walk(keys, func(tx *badger.Txn, s stamp) (goOn bool, err error) {
		e, err := c.match(tx, s)
		if e == nil {
			return true, err
		}
		c.taken()
		return emit(e), nil
	})
}

// Count is Next for a caller who wants to know how many events there are: n is how many this call
// met. It reads no records where the index tells all.
func (c *Cursor) Count(keys int) (n int, more bool, err error) {
	more, err = c.walk(keys, func(tx *badger.Txn, s stamp) (bool, error) {
		if !c.exact {
			if e, err := c.match(tx, s); e == nil {
				return true, err
			}
		}
		c.taken()
		n++
		return true, nil
	})
	return n, more, err
}

func (c *Cursor) taken() {
	if c.left > 0 {
		c.left--
	}
}

// match returns the event of a stamp, nil if it does not match or has gone.
func (c *Cursor) match(tx *badger.Txn, s stamp) (e *nostr.Event, err error) {
	item, err := tx.Get(key(inRecords, s[:]))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = item.Value(func(record []byte) error {
		decoded, err := decode(s, record)
		if err == nil && (c.exact || c.filter.Matches(&decoded)) {
			e = &decoded
		}
		return err
	})
	return e, err
}

// walk visits the next stamps, each once, for as long as the keys last.
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
	defer r.close()
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
