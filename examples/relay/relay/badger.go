package relay

import (
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// Badger returns the settings for a store in Badger: what tells its load, which files it maps, how it is synced. The caller goes on from there, and
// closes the store after the server's Run has returned.
func Badger(s *store.Store) (Config, error) {
	mapped, err := badgerload.Mapped(s.DB())
	if err != nil {
		return Config{}, err
	}
	return Config{
		Store:   inBadger{s},
		Sources: []load.Source{badgerload.New(s.DB())},
		Mapped:  mapped,
		Sync:    s.Sync,
	}, nil
}

// inBadger is the Store of the server: its cursors are an interface.
type inBadger struct{ *store.Store }

func (b inBadger) Query(f nostr.Filter) Cursor { return b.Store.Query(f) }
