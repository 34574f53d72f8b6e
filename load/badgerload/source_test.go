package badgerload_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// small is a store that nearly every write flushes and nothing compacts.
func small(t *testing.T) badger.Options {
	return badger.DefaultOptions(t.TempDir()).
		WithMemTableSize(64 << 10).WithValueThreshold(1 << 10).WithBaseTableSize(64 << 10).
		WithNumCompactors(0).WithLogger(nil)
}

func open(t *testing.T, options badger.Options) *badger.DB {
	t.Helper()
	db := must.Have(badger.Open(options))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// filled is a store whose level 0 has at least the given tables, and how many it has: opened again,
// so that no memtable is still to arrive.
func filled(t *testing.T, options badger.Options, tables int) (*badger.DB, int) {
	t.Helper()
	db := open(t, options)
	for n := 0; db.Levels()[0].NumTables < tables; n++ {
		key := []byte{byte(n), byte(n >> 8), byte(n >> 16)}
		must.Do(t, db.Update(func(tx *badger.Txn) error { return tx.Set(key, make([]byte, 900)) }))
	}
	must.Do(t, db.Close())
	db = open(t, options)
	return db, db.Levels()[0].NumTables
}

func poll(t *testing.T, s *badgerload.Source) load.Sample {
	t.Helper()
	return must.Have(s.Poll(t.Context()))(t)
}

// reading is the reading of that name, which must be there.
func reading(t *testing.T, s load.Sample, name string) load.Reading {
	t.Helper()
	i := slices.IndexFunc(s.Readings, func(r load.Reading) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no reading %q in %v", name, s.Readings)
	}
	return s.Readings[i]
}

func TestLevel0IsMeasuredAgainstTheStoresOwnThreshold(t *testing.T) {
	db, tables := filled(t, small(t).WithNumLevelZeroTablesStall(23), 3)
	sample := poll(t, badgerload.New(db))
	got := reading(t, sample, "level-0 tables")
	if got.Value != float64(tables) || got.Limit != 23 || got.Scope != load.Writes {
		t.Errorf("got %+v, want %d tables of 23, for writes", got, tables)
	}
	if d := sample.Drain; d == nil || d.Backlog != float64(tables) || d.Drained != 0 || math.Abs(d.Target-0.6*23) > 1e-9 || d.Limit != 22 {
		t.Errorf("got the drain %+v, want a backlog of %d, nothing drained, a target of 0.6 of 23 and a table less as limit", d, tables)
	}
}

func TestWhatCompactionTakesFromLevel0IsDrained(t *testing.T) {
	db, tables := filled(t, small(t).WithNumLevelZeroTables(2), 4) // at fewer than it has, Flatten leaves level 0 alone
	source := badgerload.New(db)
	poll(t, source)
	must.Do(t, db.Flatten(1))

	sample := poll(t, source)
	left := db.Levels()[0].NumTables
	if left >= tables {
		t.Fatalf("%d of %d tables are left: the store did not compact", left, tables)
	}
	if d := sample.Drain; d.Drained != float64(tables-left) || d.Backlog != float64(left) {
		t.Errorf("got %+v, want %d drained and %d left", d, tables-left, left)
	}
}

func TestSizesAndCachesAreRead(t *testing.T) {
	with := poll(t, badgerload.New(open(t, small(t).WithBlockCacheSize(1<<20).WithIndexCacheSize(1<<20))))
	for _, name := range []string{"block cache misses", "index cache misses"} {
		if r := reading(t, with, name); !math.IsInf(r.Limit, 1) || r.Unit != load.Share {
			t.Errorf("got %+v, want a share that bounds nothing", r)
		}
	}
	for _, name := range []string{"tree", "value log"} {
		if r := reading(t, with, name); r.Err != nil || r.Unit != load.Bytes || !math.IsInf(r.Limit, 1) {
			t.Errorf("got %+v, want bytes that bound nothing", r)
		}
	}
	without := poll(t, badgerload.New(open(t, small(t).WithBlockCacheSize(0).WithIndexCacheSize(0).WithCompression(0))))
	for _, r := range without.Readings {
		if r.Unit == load.Share {
			t.Errorf("got %v from a store without caches", r)
		}
	}
}

func TestScoreCountsFromTheLevelsBelow(t *testing.T) {
	db, _ := filled(t, small(t), 8) // more than the 5 from which level 0 has a score
	if score := db.Levels()[0].Score; score < 1 {
		t.Fatalf("the score of level 0 is %v: the test needs one", score)
	}
	if r := reading(t, poll(t, badgerload.New(db)), "compaction score"); r.Value != 0 {
		t.Errorf("got %v: that of level 0 is its tables again", r)
	}
}

func TestClosedStore(t *testing.T) {
	db := open(t, small(t))
	source := badgerload.New(db)
	poll(t, source)
	must.Do(t, db.Close())
	if _, err := source.Poll(t.Context()); !errors.Is(err, badgerload.ErrClosed) {
		t.Errorf("%v, want that it is closed", err)
	}
}

var _ bulk.Marks = badgerload.Marks{}

func TestMarksAreKept(t *testing.T) {
	options := small(t)
	db := open(t, options)
	marks := badgerload.Marks{DB: db, Prefix: "mark/"}
	want := func(id string, lines int64) {
		t.Helper()
		if has, err := marks.Mark(t.Context(), id); err != nil || has != lines {
			t.Errorf("the mark of %s is %d, %v, want %d", id, has, err, lines)
		}
	}
	want("a", 0)
	for _, lines := range []int64{1, 1 << 40} {
		must.Do(t, marks.SetMark(t.Context(), "a", lines))
		want("a", lines)
	}
	want("b", 0)
	must.Do(t, db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("mark/b"), []byte("no mark")) }))
	if has, err := marks.Mark(t.Context(), "b"); err == nil {
		t.Errorf("another value counts as the mark %d", has)
	}
}

func TestSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("known on Linux only")
	}
	dir := t.TempDir()
	const most = 1 << 60 // no disk has as much
	fits := badger.DefaultOptions(filepath.Join(dir, "not", "made", "yet")).WithMemTableSize(1 << 10)
	must.Do(t, badgerload.Space(fits))
	err := badgerload.Space(fits.WithMemTableSize(most / 30))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), fits.Dir+" has ") || !strings.Contains(err.Error(), " MB at once") {
		t.Error(err)
	}
	if err := badgerload.Space(fits.WithMemTableSize(most / 30).WithInMemory(true)); err != nil {
		t.Errorf("in memory: %v", err)
	}
	if err := badgerload.Space(badger.DefaultOptions("/proc/self/status/no")); err != nil {
		t.Errorf("of a file system that does not tell: %v", err)
	}
}

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

func TestOpenAfterAKillThatLeftEmptyLogs(t *testing.T) {
	options := badger.DefaultOptions(t.TempDir()).WithLogger(nil)
	db := must.Have(badgerload.Open(options))(t)
	must.Do(t, db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("key"), []byte("value")) }))
	must.Do(t, db.Close())
	for _, name := range []string{"00008.mem", "00009.mem", "000009.vlog"} {
		must.Do(t, os.WriteFile(filepath.Join(options.Dir, name), nil, 0o600))
	}
	db = must.Have(badgerload.Open(options))(t)
	defer db.Close()
	must.Do(t, db.View(func(tx *badger.Txn) error { _, err := tx.Get([]byte("key")); return err }))
	if _, err := badgerload.Open(options); err == nil {
		t.Error("a store that is open was opened again")
	}
}
