package relay

import (
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// Badger completes settings with those for a store in Badger: what tells its load, which files it
// maps, how it is synced, where it has the marks of imports. The caller closes the store after the
// server's Run has returned.
func Badger(c Config, s *store.Store) (_ Config, err error) {
	if c.Mapped, err = badgerload.Mapped(s.DB()); err != nil {
		return c, err
	}
	c.Store, c.Sources, c.Sync, c.Marks = inBadger{s}, []load.Source{badgerload.New(s.DB())}, s.Sync, s.Marks()
	return c, nil
}

// inBadger is the Store of the server: its cursors are an interface.
type inBadger struct{ *store.Store }

func (b inBadger) Query(f nostr.Filter) Cursor { return b.Store.Query(f) }
