package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// ErrFull is what Save returns while the disk has too little room left. What is in the store can be read.
var ErrFull = errors.New("store: the disk is full")

// reserveTables is the room that Save leaves free, in memtables. When nothing more is saved, Badger still flushes 3 and compacts level 0, which has up to 15 tables
// of that size, beside what they overlap. Badger writes to sparse mapped files: without room for a page, the kernel kills the process.
const reserveTables = 32

// checkRoom asks the file system, which takes a microsecond.
func (s *Store) checkRoom() error {
	dir := s.db.Opts().Dir
	free, err := freeBytes(dir)
	if err != nil {
		return fmt.Errorf("store: room in %s: %w", dir, err)
	}
	if free < s.reserve {
		return fmt.Errorf("%w: %s has %d MiB free, and the store needs %d to work in: delete other files, or give it a larger disk", ErrFull, dir, free>>20, s.reserve>>20)
	}
	return nil
}

// Reclaim gives the room of replaced and deleted events in the log of large values back to the file system: it rewrites files of which half or more is
// garbage, and returns how many. It learns of garbage from compactions, so that it comes late. A relay calls it every few minutes. It takes the disk for
// about a second for each file, and ends early, between two files, with ctx.
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
