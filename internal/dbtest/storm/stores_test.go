package storm

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/load/neo4jload"
	"github.com/weir-go/weir/load/sqlload"
	"github.com/weir-go/weir/throttle"
)

// A store is the target of a variant.
type store struct{ *badger.DB }

// keys is the number of keys: documents are rewritten, and reads find some.
const keys = 1 << 20

func (v variant) key() []byte {
	if v.fresh {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rand.Uint64()), rand.Uint64())
	}
	return binary.BigEndian.AppendUint64(nil, rand.Uint64N(keys)*0x9E3779B97F4A7C15) // spread over the key space
}

// openBadger opens a store in a folder, with the initial data of the variant.
func openBadger(t *testing.T, v variant) store {
	o := badger.DefaultOptions(t.TempDir()).WithCompression(cmp.Or(v.compression, options.ZSTD)).WithLogger(nil)
	if v.data > 0 {
		fillBadger(t, o, v)
	}
	if v.memtable > 0 {
		o = o.WithMemTableSize(v.memtable)
	}
	if limit := o.MemTableSize / 10; o.ValueThreshold > limit {
		o.ValueThreshold = limit // Badger requires values of the tree to fit in a batch
	}
	return store{must.Have(badger.Open(o))(t)}
}

func (s store) write(v variant) error {
	if v.batch == 1 {
		return s.Update(func(tx *badger.Txn) error { return tx.Set(v.key(), storm.Part(v.stock, v.size)) })
	}
	b := s.NewWriteBatch()
	defer b.Cancel()
	for range v.batch {
		if err := b.Set(v.key(), storm.Part(v.stock, v.size)); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (s store) read(v variant) error {
	return s.View(func(tx *badger.Txn) error {
		item, err := tx.Get(v.key())
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		return item.Value(func([]byte) error { return nil })
	})
}

// stalls reports whether level 0 is full.
func (s store) stalls() bool {
	return s.Levels()[0].NumTables >= s.Opts().NumLevelZeroTablesStall
}

func fillBadger(t *testing.T, o badger.Options, v variant) {
	db := must.Have(badger.Open(o))(t)
	defer db.Close()
	b := db.NewWriteBatch()
	for written := int64(0); written < v.data; written += int64(v.size) {
		must.Do(t, b.Set(v.key(), storm.Part(v.stock, v.size)))
	}
	must.Do(t, b.Flush())
}

var badgerColumns = []string{"writes/s", "database p50", "database p99", "with wait p50", "with wait p99", "at the stall %", "peak MB", "refused/s"}

// TestBadger checks that 64 independent writers of documents stall the store unless they are
// paced at its drain rate.
func TestBadger(t *testing.T) {
	medians := badgerStorm(t, documents(64))
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atMost(t, medians, "with wait p99", paced, 1./4, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerCrowded has 512 writers, more than the queue has room for.
func TestBadgerCrowded(t *testing.T) {
	measure(t)
	medians := badgerStorm(t, documents(512))
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerAtEase writes incompressible values, which fill the log before compaction falls
// behind. There is no stall to prevent, and a throttle must cost little.
func TestBadgerAtEase(t *testing.T) {
	measure(t)
	medians := badgerStorm(t, noise(64))
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
}

// The contenders.
const (
	unthrottled = "no throttle"
	paced       = "drain rate"
)

// badgerStorm compares the throttles of a store with memtables of 1 MiB, whose keys are all fresh.
func badgerStorm(t *testing.T, v variant) map[string]result {
	v.memtable, v.batch, v.fresh = smallMemtable, 1, true
	return compare(t, badgerColumns, v.behind(unthrottled, openGate), v.behind(paced, drainRate(128, 1)))
}

// A guard returns the gate before the writes of a storm, which ends with ctx.
type guard func(t *testing.T, ctx context.Context, s store) gate

func openGate(*testing.T, context.Context, store) gate { return open }

// drainRate is the guard of a store that digests writes later.
func drainRate(writers, batch int) guard {
	return func(t *testing.T, ctx context.Context, s store) gate {
		return through(throttled(t, ctx, badgerload.New(s.DB), throttle.Side{
			Laws:        []throttle.LoadLaw{throttle.DrainRate{}},
			Queue:       weir.Queue{Size: writers, Timeout: patience},
			MaxInFlight: inFlight * batch,
		}), batch)
	}
}

const (
	// inFlight is the number of writes in the store at once. Badger commits batches one after
	// another in one goroutine: writes beyond a batch only wait inside the store. With 8,
	// batches were so small that storms lost 4% of their writes.
	inFlight = 16
	// patience is the longest wait of a write. It is longer than a store needs for the
	// simultaneous writes of a thousand writers, so that overload appears as latency and not
	// as refusals.
	patience = 10 * time.Second
)

// The values of the storms: documents, and noise that does not compress.
func documents(writers int) variant {
	return variant{stock: storm.Readings(), size: 4 << 10, writers: writers}
}

func noise(writers int) variant {
	return variant{stock: random(), size: 1 << 10, writers: writers, compression: options.Snappy}
}

func random() []byte {
	b := make([]byte, storm.Stock)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// hotRows is a table whose first row all writers write to.
type hotRows struct{ db *sql.DB }

const coldRows = 10_000

func newHotRows(t *testing.T, s *dbtest.Server) hotRows {
	admin := dbtest.OpenPostgres(t, s, "weir")
	dbtest.Exec(t, admin, "CREATE TABLE rows (id int PRIMARY KEY, n int NOT NULL)")
	dbtest.Exec(t, admin, "INSERT INTO rows SELECT g, 0 FROM generate_series(1, $1) g", coldRows)
	db := dbtest.OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return hotRows{db}
}

// write holds the row for the duration of a transaction of three statements.
func (h hotRows) write(ctx context.Context, _ int) error {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // has no effect after Commit
	if _, err := tx.ExecContext(ctx, "UPDATE rows SET n = n + 1 WHERE id = 1"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE rows SET n = n + 1 WHERE id = $1", 2+rand.IntN(coldRows-1)); err != nil {
		return err
	}
	return tx.Commit()
}

func (h hotRows) read(ctx context.Context, _ int) error {
	var n int
	return h.db.QueryRowContext(ctx, "SELECT n FROM rows WHERE id = $1", 1+rand.IntN(coldRows)).Scan(&n)
}

// TestPostgres checks writers that wait for one row: they hold the connections that readers
// need.
func TestPostgres(t *testing.T) {
	measure(t)
	s := dbtest.Postgres(t)
	db := newHotRows(t, s)
	run := func(t *testing.T, guard func(context.Context) gate) result { return inDatabase(t, db, guard) }
	source := func(t *testing.T) load.Source { return &sqlload.Postgres{DB: dbtest.OpenPostgres(t, s, "weir")} }
	medians := compareOnWaits(t, true, run, source)
	atMost(t, medians, "read p99", byDefault, 1./3, unthrottled)
	atLeast(t, medians, "writes/s", byDefault, 0.8, unthrottled) // the medians of 0.83 and 1.16 differ by the disk
	atLeast(t, medians, "reads/s", byDefault, 1, unthrottled)
}

// hotNodes is a graph with a few nodes that all writers write to.
type hotNodes struct{ driver neo4j.DriverWithContext }

const (
	people = 2000
	hot    = 2
)

func newHotNodes(t *testing.T, s *dbtest.Server) hotNodes {
	h := hotNodes{dbtest.OpenNeo4j(t, s, connections)}
	for _, statement := range []string{
		"CREATE CONSTRAINT IF NOT EXISTS FOR (p:Person) REQUIRE p.id IS UNIQUE",
		"UNWIND range(1, $people) AS id CREATE (:Person {id: id, n: 0})",
		"MATCH (p:Person) UNWIND range(1, 5) AS k MATCH (q:Person {id: (p.id * 7 + k * 131) % $people + 1}) CREATE (p)-[:KNOWS]->(q)",
	} {
		must.Do(t, h.run(t.Context(), statement, map[string]any{"people": people}))
	}
	return h
}

// run runs a statement in a transaction of its own.
func (h hotNodes) run(ctx context.Context, statement string, parameters map[string]any) error {
	return dbtest.RunNeo4j(ctx, h.driver, "neo4j", statement, parameters)
}

func (h hotNodes) write(ctx context.Context, _ int) error {
	return h.run(ctx, "MATCH (p:Person {id: $id}) SET p.n = p.n + 1 CREATE (p)-[:WROTE]->(:Event {at: timestamp()})",
		map[string]any{"id": 1 + rand.IntN(hot)})
}

func (h hotNodes) read(ctx context.Context, _ int) error {
	return h.run(ctx, "MATCH (p:Person {id: $id})-[:KNOWS]->()-[:KNOWS]->(q) RETURN count(DISTINCT q)",
		map[string]any{"id": 1 + hot + rand.IntN(people-hot)})
}

// TestNeo4j checks transactions that wait for one node: they hold the connections that
// readers need.
func TestNeo4j(t *testing.T) {
	measure(t)
	s := dbtest.Neo4j(t)
	db := newHotNodes(t, s)
	run := func(t *testing.T, guard func(context.Context) gate) result { return inDatabase(t, db, guard) }
	source := func(t *testing.T) load.Source {
		source := must.Have(neo4jload.New(neo4jload.Config{URI: dbtest.Neo4jURI(s.Address()), Auth: dbtest.Neo4jAdmin()}))(t)
		t.Cleanup(func() { source.Close(context.Background()) })
		return source
	}
	medians := compareOnWaits(t, false, run, source)
	atLeast(t, medians, "writes/s", byDefault, 1.2, unthrottled)
	atLeast(t, medians, "reads/s", byDefault, 6, unthrottled)
	atMost(t, medians, "with wait p99", byDefault, 0.6, unthrottled)
	atMost(t, medians, "read p99", byDefault, 1./3, unthrottled)
}
