package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Reclaim frees the disk space of replaced and deleted events in the value log: it rewrites
// files with half or more garbage, and returns their number. It learns of garbage from
// compactions, which are delayed. A relay calls it every few minutes. It uses the disk for
// about a second per file, and ends early, between two files, with ctx.
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
