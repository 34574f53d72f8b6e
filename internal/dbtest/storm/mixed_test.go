package storm

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/storm"
)

// A mixed storm: many writers that contend for the same rows, and a few readers, on one pool
// of connections. The readers pause between two reads, so that faster answers do not cause
// more work.
const (
	stormWriters = 64
	stormReaders = 8
	readEvery    = 20 * time.Millisecond
	// connections is the size of the pool of writers and readers: fewer than the
	// writers, as in any service.
	connections = 32
)

var mixedColumns = []string{"writes/s", "reads/s", "read p50", "read p99", "write p99", "with wait p99", "refused/s"}

// A database is the target of a mixed storm.
type database interface {
	write(context.Context, int) error
	read(context.Context, int) error
}

// inDatabase runs a mixed storm, with a gate before the writes.
func inDatabase(t *testing.T, db database, guard func(context.Context) storm.Gate) result {
	ctx, from, during := schedule(t)
	writers := &crowd{clients: stormWriters, gate: guard(ctx), work: db.write}
	readers := &crowd{clients: stormReaders, gate: storm.Open, work: db.read, pause: readEvery}
	reading := make(chan struct{})
	go func() { readers.run(ctx, from); close(reading) }()
	writers.run(ctx, from)
	<-reading

	written, refused := writers.log.count()
	read, _ := readers.log.count()
	if *repeats > 0 && (written == 0 || read == 0) { // a server that has just started may need longer than a short try
		t.Errorf("%d written, %d read: want some of both", written, read)
	}
	latency := readers.log.database()
	return result{
		"writes/s":      float64(written) / during.Seconds(),
		"reads/s":       float64(read) / during.Seconds(),
		"read p50":      latency.quantile(0.5),
		"read p99":      latency.quantile(0.99),
		"write p99":     writers.log.database().quantile(0.99),
		"with wait p99": writers.log.withWait().quantile(0.99),
		"refused/s":     float64(refused) / during.Seconds(),
	}
}
