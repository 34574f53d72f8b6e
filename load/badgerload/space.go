package badgerload

import (
	"fmt"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/internal/disk"
)

// leastSpace is the least space to require: a store with small memtables needs room for its logs
// too.
const leastSpace = 64 << 20

// Space returns an error that matches [syscall.ENOSPC] if a file system of the store has less space
// left than a compaction may need. Call it before each write, and before the store is opened:
// Badger writes to files that are mapped into memory, and a process that does so on a full disk is
// killed by SIGBUS, without an error. It costs a microsecond. Elsewhere than on Linux and macOS it
// returns nil.
func Space(options badger.Options) error {
	if options.InMemory {
		return nil
	}
	// A compaction writes the tables of level 0, and as much of the level below, before it deletes
	// either. Meanwhile all memtables may be flushed.
	tables := 2*uint64(options.NumLevelZeroTablesStall) + uint64(options.NumMemtables)
	needed := max(tables*uint64(options.MemTableSize), leastSpace)
	if err := checkSpace(options.Dir, needed); err != nil || options.ValueDir == options.Dir {
		return err
	}
	return checkSpace(options.ValueDir, needed)
}

func checkSpace(dir string, needed uint64) error {
	left, known := disk.Left(dir)
	if !known || left >= needed {
		return nil
	}
	return fmt.Errorf("badgerload: the file system of %s has %d MB left, and the store may need %d MB at once: %w", dir, left/1e6, needed/1e6, syscall.ENOSPC)
}
