package pebbleload_test

import (
	"encoding/binary"
	"math"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/weir-go/weir/internal/loadtest"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/pebbleload"
)

// quiet is a logger.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

// small is a store that little fills and nothing compacts.
func small() *pebble.Options {
	return &pebble.Options{
		FS: vfs.NewMem(), Logger: quiet{}, MemTableSize: 64 << 10,
		DisableAutomaticCompactions: true, L0StopWritesThreshold: 9,
	}
}

func open(t *testing.T, options *pebble.Options) (*pebble.DB, *pebbleload.Source) {
	t.Helper()
	db, source, err := pebbleload.Open("", options)
	if err != nil {
		t.Fatal(err)
	}
	return db, source
}

// flush makes a sublevel: a table that overlaps with those that are there.
func flush(t *testing.T, db *pebble.DB) {
	t.Helper()
	for n := range 50 {
		if err := db.Set(binary.BigEndian.AppendUint64(nil, uint64(n)), make([]byte, 100), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestThresholdsAreTheStoresOwn(t *testing.T) {
	db, source := open(t, small())
	defer db.Close()
	for range 3 {
		flush(t, db)
	}

	sample := loadtest.Poll(t, source)
	if r := loadtest.Reading(t, sample, "level-0 sublevels"); r.Value != 3 || r.Limit != 9 || r.Scope != load.Writes {
		t.Errorf("got %+v, want 3 sublevels of 9, for writes", r)
	}
	if r := loadtest.Reading(t, sample, "memtables"); r.Limit != 2*64<<10 || r.Value <= 0 || r.Unit != load.Bytes {
		t.Errorf("got %+v, want some bytes of two memtables", r)
	}
	if r := loadtest.Reading(t, sample, "read amplification"); r.Value != 3 || !math.IsInf(r.Limit, 1) {
		t.Errorf("got %+v, want 3, which bound nothing", r)
	}
	if r := loadtest.Reading(t, sample, "compaction debt"); !math.IsInf(r.Limit, 1) || r.Unit != load.Bytes {
		t.Errorf("got %+v, want bytes that bound nothing", r)
	}
	if d := sample.Drain; math.Abs(d.Target-5.4) > 1e-9 || d.Limit != 8 || d.Backlog != 3 {
		t.Errorf("got the drain %+v, want 3 sublevels, a target of 0.6 of 9 and a limit of 8", d)
	}
	source.DebtLimit = 1 << 20
	if r := loadtest.Reading(t, loadtest.Poll(t, source), "compaction debt"); r.Limit != 1<<20 {
		t.Errorf("got %+v, want the limit that was set", r)
	}
}

func TestWhatCompactionTakesFromLevel0IsDrained(t *testing.T) {
	db, source := open(t, small())
	defer db.Close()
	flush(t, db)
	flush(t, db)
	drains(t, db, source)
}

// drains compacts a store that has a backlog, and checks that all of it counts as drained.
func drains(t *testing.T, db *pebble.DB, source *pebbleload.Source) {
	t.Helper()
	before := loadtest.Poll(t, source).Drain
	if before.Drained != 0 || before.Backlog <= 0 {
		t.Fatalf("got %+v, want a backlog and nothing drained", before)
	}
	if err := db.Compact(t.Context(), []byte{0}, []byte{255}, false); err != nil {
		t.Fatal(err)
	}
	if after := loadtest.Poll(t, source).Drain; after.Drained != before.Backlog || after.Backlog != 0 {
		t.Errorf("got %+v, want the backlog of %v drained", after, before.Backlog)
	}
}

// The tables in level 0 of a store that is opened are a backlog like any other.
func TestWhatWasThereBeforeIsDrainedToo(t *testing.T) {
	options := small()
	db, _ := open(t, options)
	flush(t, db)
	flush(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, source := open(t, options)
	defer db.Close()
	drains(t, db, source)
}

// Two sublevels stop writes here, and a few values fill a memtable: writes are stopped before long.
func TestWriteStallsAreSeen(t *testing.T) {
	options := small()
	options.DisableAutomaticCompactions = false
	options.L0CompactionThreshold, options.L0StopWritesThreshold = 2, 2
	var stopped atomic.Bool
	options.EventListener = &pebble.EventListener{WriteStallEnd: func() { stopped.Store(true) }}
	db, source := open(t, options)
	defer db.Close()
	loadtest.Poll(t, source)

	for n := uint64(0); !stopped.Load(); n++ {
		if err := db.Set(binary.BigEndian.AppendUint64(nil, n*2654435761), make([]byte, 4<<10), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if r := loadtest.Reading(t, loadtest.Poll(t, source), "write stall"); r.Value <= 0 || r.Value > 1 || r.Limit != 1 || r.Scope != load.Writes {
		t.Errorf("got %+v after a storm, want that writes were stopped for a share of the time", r)
	}
	if r := loadtest.Reading(t, loadtest.Poll(t, source), "write stall"); r.Value != 0 {
		t.Errorf("got %v without writes, want no stall", r)
	}
}

// A listener of the user still gets events.
func TestOwnListenerIsKept(t *testing.T) {
	options := small()
	flushed := make(chan struct{}, 1)
	options.EventListener = &pebble.EventListener{FlushEnd: func(pebble.FlushInfo) {
		select {
		case flushed <- struct{}{}:
		default:
		}
	}}
	db, _ := open(t, options)
	defer db.Close()
	flush(t, db)
	<-flushed
}

func TestOpenFails(t *testing.T) {
	options := small()
	options.ReadOnly = true
	if _, _, err := pebbleload.Open("none", options); err == nil {
		t.Error("opened a store that is not there")
	}
}

// Pebble goes on to answer about itself after Close, with its last state.
func TestStoreClosedUnderTheMonitor(t *testing.T) {
	db, source := open(t, small())
	loadtest.Closed(t, source, db.Close, pebbleload.ErrClosed)
}
