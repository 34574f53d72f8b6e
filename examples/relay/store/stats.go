package store

import (
	"context"
	"encoding/binary"

	"github.com/dgraph-io/badger/v4"

	"github.com/nbd-wtf/go-nostr"
)

// Stats holds statistics of a store.
type Stats struct {
	Kinds          map[int]uint64  // events by kind
	Oldest, Newest nostr.Timestamp // times of events, 0 if there are none
	Tree, Log      int64           // bytes of the tree and of the value log, as counted by Badger once a minute
}

// Events returns the number of events.
func (s Stats) Events() (n uint64) {
	for _, of := range s.Kinds {
		n += of
	}
	return n
}

// Stats counts the events. It reads an index of all events, which takes about a second for a
// million, and ends early with ctx.
func (s *Store) Stats(ctx context.Context) (stats Stats, err error) {
	if err := s.enter(); err != nil {
		return stats, err
	}
	defer s.users.Done()
	stats.Kinds = map[int]uint64{}
	stats.Tree, stats.Log = s.db.Size()
	err = s.db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.IteratorOptions{Prefix: key(inKinds)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			k := it.Item().Key()
			if len(k) != 1+2+len(stamp{}) {
				continue // of a damaged table
			}
			stats.count(int(binary.BigEndian.Uint16(k[1:])), stamp(k[3:]).created())
		}
		return nil
	})
	return stats, err
}

func (s *Stats) count(kind int, created nostr.Timestamp) {
	if len(s.Kinds) == 0 {
		s.Oldest, s.Newest = created, created
	}
	s.Kinds[kind]++
	s.Oldest, s.Newest = min(s.Oldest, created), max(s.Newest, created)
}
