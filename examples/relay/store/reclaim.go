package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Reclaim gives the room of replaced and deleted events in the log of large values back to the file
// system: it rewrites files of which half or more is garbage, and returns how many. It learns of
// garbage from compactions, so that it comes late. A relay calls it every few minutes. It takes the
// disk for about a second for each file, and ends early, between two files, with ctx.
func (s *Store) Reclaim(ctx context.Context) (files int, err error) {
	const garbage = 0.5
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.users.Done()
	for ; ctx.Err() == nil; files++ {
		if err := s.db.RunValueLogGC(garbage); errors.Is(err, badger.ErrNoRewrite) {
			return files, nil
		} else if err != nil {
			return files, fmt.Errorf("store: %w", err)
		}
	}
	return files, ctx.Err()
}
