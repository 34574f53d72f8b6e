package badgerload

import (
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

const (
	leastTarget   = 16 << 20 // as of package memory; a target below 16 bytes left no cache, without which Badger panics if it compresses
	memtableShare = 64       // the target divided by it is a memtable
	leastMemtable = 2 << 20  // with less, most of the work is compaction
	memtables     = 3
	compactors    = 2
	cacheShare    = 16       // the target divided by it is the cache of blocks
	tableShare    = 128      // the target divided by it is a table
	leastTable    = 1 << 20  // while it is compacted, several are in memory
	logFile       = 64 << 20 // of values: it is mapped into memory

	// Tables of all levels have the same size. With Badger's own multiplier, 2, tables are twice as
	// large with each level that a store grows, and so is the memory of a compaction: at a target
	// of 512 MiB a store needed too much memory after 6 GB of records.
	tableGrowth = 1

	// Values above this size go to the value log. In the tree, where they are compacted again and
	// again, records of 200 B to 20 KB took 253 MiB of live heap at a target of 256 MiB. With a
	// size of 4 KiB here they took 46 MiB, and with 1 KiB 23 MiB.
	inTree = 1 << 10
)

// Sized returns the options with all sizes in memory reduced to fit a target in bytes, as of
// package memory. A target below 16 MiB counts as 16 MiB. Sized raises no option.
//
// Values larger than 1 KiB go to the value log: where records are replaced or deleted, call
// RunValueLogGC now and then. A program that wants such values in the tree sets ValueThreshold
// afterwards, and needs a larger target.
func Sized(options badger.Options, target uint64) badger.Options {
	target = max(target, leastTarget)
	memtable := max(int64(target/memtableShare), leastMemtable)
	options.MemTableSize = min(options.MemTableSize, memtable)
	options.NumMemtables = min(options.NumMemtables, memtables)
	options.NumCompactors = min(options.NumCompactors, compactors)
	options.BlockCacheSize = min(options.BlockCacheSize, int64(target/cacheShare))
	options.BaseTableSize = min(options.BaseTableSize, max(int64(target/tableShare), leastTable))
	options.TableSizeMultiplier = min(options.TableSizeMultiplier, tableGrowth)
	options.ValueLogFileSize = min(options.ValueLogFileSize, logFile)
	options.ValueThreshold = min(options.ValueThreshold, inTree)
	return options
}

// Mapped returns patterns of the files that a store maps into memory, for the Mapped of a
// memory.Config: its tables, logs of values and logs of memtables.
func Mapped(db *badger.DB) (patterns []string, err error) {
	options := db.Opts()
	for _, files := range [][2]string{{options.Dir, "*.sst"}, {options.Dir, "*.mem"}, {options.ValueDir, "*.vlog"}} {
		if options.InMemory {
			break
		}
		dir, err := filepath.Abs(files[0])
		if err != nil {
			return nil, err
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil { // as the kernel has it
			return nil, err
		}
		patterns = append(patterns, filepath.Join(literal.Replace(dir), files[1]))
	}
	return patterns, nil
}

// literal makes a pattern of a path.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
