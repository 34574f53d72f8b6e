package badgerload_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load/badgerload"
)

// A store opens whatever the target: without a cache of blocks, Badger panics.
func TestSizedFitsTheTarget(t *testing.T) {
	for _, target := range []uint64{0, 1, 1 << 20, 256 << 20, 512 << 20, 1500 << 20, 1 << 40} {
		o := badgerload.Sized(badger.DefaultOptions(t.TempDir()).WithLogger(nil), target)
		if held := int64(o.NumMemtables)*o.MemTableSize + o.BlockCacheSize; target >= 256<<20 && uint64(held) > target/8 {
			t.Errorf("target %d: memtables and the cache take %d", target, held)
		}
		if o.TableSizeMultiplier != 1 {
			t.Errorf("target %d: tables grow with the store, %d times each level", target, o.TableSizeMultiplier)
		}
		db := open(t, o) // Badger checks that they go together
		value := make([]byte, o.ValueThreshold+1)
		if err := db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("large"), value) }); err != nil {
			t.Errorf("target %d: a value for the log: %v", target, err)
		}
	}
}

func TestSizedMakesNothingLarger(t *testing.T) {
	for _, own := range []badger.Options{small(t), badger.DefaultOptions("")} {
		o := badgerload.Sized(own, 1<<40)
		if o.MemTableSize > own.MemTableSize || o.NumMemtables > own.NumMemtables || o.NumCompactors > own.NumCompactors || o.BlockCacheSize > own.BlockCacheSize ||
			o.BaseTableSize > own.BaseTableSize || o.ValueLogFileSize > own.ValueLogFileSize || o.TableSizeMultiplier > own.TableSizeMultiplier || o.ValueThreshold > own.ValueThreshold {
			t.Errorf("%+v became %+v", own, o)
		}
	}
}

func TestMappedFilesAreThoseOfTheStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name]")
	must.Do(t, os.Mkdir(dir, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	db := open(t, badger.DefaultOptions(link).WithLogger(nil))
	patterns := must.Have(badgerload.Mapped(db))(t)
	for _, name := range []string{"000001.sst", "00001.mem", "000001.vlog"} {
		matched := 0
		for _, pattern := range patterns {
			if ok, err := filepath.Match(pattern, filepath.Join(dir, name)); err != nil {
				t.Error(err)
			} else if ok {
				matched++
			}
		}
		if matched != 1 {
			t.Errorf("%s matches %d of %q", name, matched, patterns)
		}
	}
	inMemory := open(t, badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if patterns, err := badgerload.Mapped(inMemory); err != nil || len(patterns) > 0 {
		t.Errorf("a store in memory: %q, %v", patterns, err)
	}
}
