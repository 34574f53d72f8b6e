package storm

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/throttle"
)

var badgerColumns = []string{"writes/s", "database p50", "database p99", "with wait p50", "with wait p99", "at the stall %", "refused/s"}

// TestBadger: 64 writers that do not wait for one another stall the store, unless they are
// paced at what it digests.
func TestBadger(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(64)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atMost(t, medians, "with wait p99", paced, 1./4, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerCrowded: 512 writers are more than the queue has room for.
func TestBadgerCrowded(t *testing.T) {
	medians := compare(t, badgerColumns, badgerStorm(512)...)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
}

// The contenders.
const (
	unthrottled = "no throttle"
	asPlanned   = "PID as first planned"
	paced       = "drain rate"
)

func badgerStorm(writers int) []contender {
	return []contender{
		{unthrottled, func(t *testing.T) result {
			return inBadger(t, writers, func(context.Context, *badger.DB) gate { return open })
		}},
		{asPlanned, func(t *testing.T) result {
			return inBadger(t, writers, func(ctx context.Context, db *badger.DB) gate {
				p := newPlanned(db)
				go p.monitor(ctx)
				return p.gate
			})
		}},
		{paced, func(t *testing.T) result {
			return inBadger(t, writers, func(ctx context.Context, db *badger.DB) gate { return drainRate(t, ctx, db) })
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
			Laws:        []throttle.Law{throttle.DrainRate{}},
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
func through(th *throttle.Throttle, kind throttle.Kind) gate {
	return func(ctx context.Context) (func(error), error) {
		op, err := th.Start(ctx, kind, 1)
		if err != nil {
			return nil, err
		}
		return op.Done, nil
	}
}

// inBadger lets a storm of writers rage in a fresh store.
func inBadger(t *testing.T, writers int, guard func(context.Context, *badger.DB) gate) result {
	options := badger.DefaultOptions(t.TempDir()).WithMemTableSize(1 << 20).WithValueThreshold(2 * valueSize).WithLogger(nil)
	db, err := badger.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	ctx, from, during := schedule(t)
	c := &crowd{clients: writers, gate: guard(ctx, db), work: writer(db)}
	stall := make(chan float64)
	go func() { stall <- atTheStall(ctx, db, from) }()
	c.run(ctx, from)

	done, refused := c.log.count()
	database, withWait := c.log.database(), c.log.withWait()
	return result{
		"writes/s":       float64(done) / during.Seconds(),
		"database p50":   database.quantile(0.5),
		"database p99":   database.quantile(0.99),
		"with wait p50":  withWait.quantile(0.5),
		"with wait p99":  withWait.quantile(0.99),
		"at the stall %": 100 * <-stall,
		"refused/s":      float64(refused) / during.Seconds(),
	}
}

// valueSize is that of a small document, and below the threshold from which values bypass the
// tree.
const valueSize = 1024

// writer writes random keys, so that every compaction has to read what it meets.
func writer(db *badger.DB) func(context.Context, int) error {
	return func(context.Context, int) error {
		key := make([]byte, 16)
		binary.BigEndian.PutUint64(key, rand.Uint64())
		binary.BigEndian.PutUint64(key[8:], rand.Uint64())
		value := make([]byte, valueSize)
		for i := range value {
			value[i] = byte(rand.Uint32())
		}
		return db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
	}
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
