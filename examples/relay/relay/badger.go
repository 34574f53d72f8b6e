package relay

import (
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// Badger completes the settings for a store in Badger: its load sources, its mapped files,
// its sync, and the marks of its imports. The caller closes the store after the server's Run
// has returned.
func Badger(c Config, s *store.Store) (_ Config, err error) {
	if c.Mapped, err = badgerload.Mapped(s.DB()); err != nil {
		return c, err
	}
	c.Store, c.Sources, c.Sync, c.Marks = inBadger{s}, []load.Source{badgerload.New(s.DB())}, s.Sync, s.Marks()
	return c, nil
}

// inBadger adapts the store to Store: its cursors are an interface.
type inBadger struct{ *store.Store }

func (b inBadger) Query(f nostr.Filter) Cursor { return b.Store.Query(f) }
