package relay

import (
	"context"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// A Store keeps events. All methods are safe for concurrent use.
type Store interface {
	// Save keeps an event, and returns after it is acknowledged.
	Save(ctx context.Context, e *nostr.Event) (store.Outcome, error)
	// Query returns a cursor over the events that match a filter, newest first.
	Query(f nostr.Filter) Cursor
}

// A Cursor reads the answer to a query in slices. It is not safe for concurrent use.
type Cursor interface {
	// Next reads about the given number of keys in one short transaction and calls emit
	// for their events, as JSON, until emit returns false. The next call continues from there.
	// Next reports whether there may be more.
	Next(keys int, emit func(event []byte) bool) (more bool, err error)
	// Count is Next for callers that only need the number of events.
	Count(keys int) (n int, more bool, err error)
}

// Badger completes the settings for a store in Badger: its load sources and its mapped
// files. The caller closes the store after the server's Run
// has returned.
func Badger(c Config, s *store.Store) (_ Config, err error) {
	if c.Mapped, err = badgerload.Mapped(s.DB()); err != nil {
		return c, err
	}
	c.Store, c.Sources = inBadger{s}, []load.Source{badgerload.New(s.DB())}
	return c, nil
}

// inBadger adapts the store to Store: its cursors are an interface.
type inBadger struct{ *store.Store }

func (b inBadger) Query(f nostr.Filter) Cursor { return b.Store.Query(f) }
