package storm

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/throttle"
)

var badgerColumns = []string{"writes/s", "database p50", "database p99", "with wait p50", "with wait p99", "at the stall %", "peak MB", "refused/s"}

// TestBadger: 64 writers of documents that do not wait for one another stall the store,
// unless they are paced at what it digests.
func TestBadger(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(64, documents)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atMost(t, medians, "with wait p99", paced, 1./4, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerCrowded: 512 writers are more than the queue has room for.
func TestBadgerCrowded(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(512, documents)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerAtEase: what does not compress fills the log before compaction falls behind.
// There is no stall to hold off, and a throttle must cost little.
func TestBadgerAtEase(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(64, noise)...)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
}

// The contenders.
const (
	unthrottled = "no throttle"
	asPlanned   = "PID as first planned"
	paced       = "drain rate"
)

func badgerStorm(writers int, v values) []contender {
	return []contender{
		{unthrottled, func(t *testing.T) result {
			return inBadger(t, writers, v, func(context.Context, *badger.DB) gate { return open })
		}},
		{asPlanned, func(t *testing.T) result {
			return inBadger(t, writers, v, func(ctx context.Context, db *badger.DB) gate {
				p := newPlanned(db)
				go p.monitor(ctx)
				return p.gate
			})
		}},
		{paced, func(t *testing.T) result {
			return inBadger(t, writers, v, func(ctx context.Context, db *badger.DB) gate { return drainRate(t, ctx, db) })
		}},
	}
}

// drainRate is the throttle that a store of this kind is to have.
func drainRate(t *testing.T, ctx context.Context, db *badger.DB) gate {
	mon, err := load.New(load.Config{
		Feeds:    []load.Feed{{Source: badgerload.New(db)}},
		Interval: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	th, err := throttle.New(throttle.Config{
		Monitor: mon,
		Writes: throttle.Side{
			Laws:        []throttle.PaceLaw{throttle.DrainRate{}},
			Queue:       weir.Queue{Size: 128, Timeout: time.Second},
			MaxInFlight: inFlight,
		},
		Tick: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	go mon.Run(ctx)
	go th.Run(ctx)
	return through(th, throttle.Write)
}

// inFlight is how many writes are in the store at once. It commits them one batch after
// another, in one goroutine: what is more than a batch only waits inside.
const inFlight = 8

// through is the gate of a throttle.
func through(th *throttle.Throttle, kind throttle.Op) gate {
	return func(ctx context.Context) (func(error), error) {
		op, err := th.Start(ctx, kind, 1)
		if err != nil {
			return nil, err
		}
		return op.Done, nil
	}
}

// inBadger lets a storm of writers rage in a fresh store.
func inBadger(t *testing.T, writers int, v values, guard func(context.Context, *badger.DB) gate) result {
	db, err := badger.Open(badger.DefaultOptions(t.TempDir()).WithMemTableSize(1 << 20).
		WithValueThreshold(inTheTree).WithCompression(v.compression).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	debug.FreeOSMemory() // what the storm before has left
	ctx, from, during := schedule(t)
	c := &crowd{clients: writers, gate: guard(ctx, db), work: v.writer(db)}
	stall, memory := make(chan float64), make(chan float64)
	go func() { stall <- atTheStall(ctx, db, from) }()
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

// inTheTree is the size from which a value goes to the value log instead of the tree, more
// than any here.
const inTheTree = 8 << 10

// values is what a storm writes.
type values struct {
	size        int
	compression options.CompressionType
	stock       []byte // of which each value is a part
}

var (
	documents = values{4 << 10, options.ZSTD, readings()}
	noise     = values{1 << 10, options.Snappy, random()}
)

const stock = 1 << 20

// readings returns JSON.
func readings() []byte {
	var text []byte
	for len(text) < stock {
		text = fmt.Appendf(text, `{"sensor":"s-%04d","at":"2026-11-21T%02d:%02d:%02d.%03dZ","value":%.3f,"unit":"C","state":"ok"},`,
			rand.IntN(1000), rand.IntN(24), rand.IntN(60), rand.IntN(60), rand.IntN(1000), 20+5*rand.NormFloat64())
	}
	return text
}

func random() []byte {
	b := make([]byte, stock)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func (v values) writer(db *badger.DB) func(context.Context, int) error {
	return func(context.Context, int) error { return put(db, v.any()) }
}

func (v values) any() []byte {
	at := rand.IntN(len(v.stock) - v.size)
	return v.stock[at : at+v.size]
}

// put writes to a random key, so that every compaction has to read what it meets.
func put(db *badger.DB, value []byte) error {
	key := make([]byte, 16)
	binary.BigEndian.PutUint64(key, rand.Uint64())
	binary.BigEndian.PutUint64(key[8:], rand.Uint64())
	return db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
}

// atTheStall samples level 0 and returns the share of samples in which it was full, from a
// moment on.
func atTheStall(ctx context.Context, db *badger.DB, from time.Time) float64 {
	full, samples := 0, 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return float64(full) / float64(max(samples, 1))
		case now := <-tick.C:
			if now.Before(from) {
				continue
			}
			samples++
			if db.Levels()[0].NumTables >= db.Opts().NumLevelZeroTablesStall {
				full++
			}
		}
	}
}

// mostMemory is the most memory that the process has until ctx ends, the records of the
// operations included.
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
