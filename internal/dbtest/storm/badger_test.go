package storm

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/throttle"
)

var badgerColumns = []string{"writes/s", "database p50", "database p99", "with wait p50", "with wait p99", "at the stall %", "peak MB", "refused/s"}

// TestBadger checks that 64 independent writers of documents stall the store unless they are
// paced at its drain rate.
func TestBadger(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(64, documents)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atMost(t, medians, "with wait p99", paced, 1./4, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerCrowded has 512 writers, more than the queue has room for.
func TestBadgerCrowded(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(512, documents)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerAtEase writes incompressible values, which fill the log before compaction falls
// behind. There is no stall to prevent, and a throttle must cost little.
func TestBadgerAtEase(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(64, noise)...)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
}

// The contenders.
const (
	unthrottled = "no throttle"
	sleeping    = "naive PID"
	paced       = "drain rate"
)

func badgerStorm(writers int, v values) []contender {
	return []contender{
		{unthrottled, func(t *testing.T) result {
			return inBadger(t, writers, v, func(context.Context, *badger.DB) storm.Gate { return storm.Open })
		}},
		{sleeping, func(t *testing.T) result {
			return inBadger(t, writers, v, func(ctx context.Context, db *badger.DB) storm.Gate {
				p := newNaive(db)
				go p.monitor(ctx)
				return p.gate
			})
		}},
		{paced, func(t *testing.T) result {
			return inBadger(t, writers, v, func(ctx context.Context, db *badger.DB) storm.Gate { return drainRate(t, ctx, db) })
		}},
	}
}

// drainRate returns the gate of the throttle for a store of this kind.
func drainRate(t *testing.T, ctx context.Context, db *badger.DB) storm.Gate {
	th, err := storm.DrainRate(ctx, badgerload.New(db), 128, 1)
	if err != nil {
		t.Fatal(err)
	}
	return storm.Through(th, throttle.Write, 1)
}

// inBadger runs a storm of writers on a fresh store.
func inBadger(t *testing.T, writers int, v values, guard func(context.Context, *badger.DB) storm.Gate) result {
	db, err := badger.Open(badger.DefaultOptions(t.TempDir()).WithMemTableSize(1 << 20).
		WithValueThreshold(inTheTree).WithCompression(v.compression).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	debug.FreeOSMemory() // garbage of the last storm
	ctx, from, during := schedule(t)
	c := &crowd{clients: writers, gate: guard(ctx, db), work: v.writer(db)}
	stall, memory := make(chan float64), make(chan float64)
	go func() { stall <- atTheStall(ctx, func() bool { return fullLevel0(db) }, from) }()
	go func() { memory <- mostMemory(ctx) }()
	c.run(ctx, from)

	done, refused := c.log.count()
	if done == 0 {
		t.Error("nothing was written")
	}
	database, withWait := c.log.database(), c.log.withWait()
	return result{
		"writes/s":       float64(done) / during.Seconds(),
		"database p50":   database.quantile(0.5),
		"database p99":   database.quantile(0.99),
		"with wait p50":  withWait.quantile(0.5),
		"with wait p99":  withWait.quantile(0.99),
		"at the stall %": 100 * <-stall,
		"peak MB":        <-memory / 1e6,
		"refused/s":      float64(refused) / during.Seconds(),
	}
}

// inTheTree is the size from which a value goes to the value log instead of the tree, larger
// than any here.
const inTheTree = 8 << 10

// values describes the values that a storm writes.
type values struct {
	size        int
	compression options.CompressionType
	stock       []byte // each value is a part of it
}

var (
	documents = values{4 << 10, options.ZSTD, storm.Readings()}
	noise     = values{1 << 10, options.Snappy, random()}
)

func random() []byte {
	b := make([]byte, storm.Stock)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func (v values) writer(db *badger.DB) func(context.Context, int) error {
	return func(context.Context, int) error { return put(db, storm.Part(v.stock, v.size)) }
}

// put writes to a random key, so that compactions have to read overlapping tables.
func put(db *badger.DB, value []byte) error {
	key := make([]byte, 16)
	binary.BigEndian.PutUint64(key, rand.Uint64())
	binary.BigEndian.PutUint64(key[8:], rand.Uint64())
	return db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
}

// fullLevel0 reports whether a store has reached its stall.
func fullLevel0(db *badger.DB) bool {
	return db.Levels()[0].NumTables >= db.Opts().NumLevelZeroTablesStall
}

// mostMemory returns the peak memory of the process until ctx ends, including the records of
// the operations.
func mostMemory(ctx context.Context) (most float64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var memory load.Memory
	for {
		sample, err := memory.Poll(ctx)
		if err != nil {
			return math.NaN()
		}
		most = max(most, sample.Readings[0].Value)
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
		}
	}
}
