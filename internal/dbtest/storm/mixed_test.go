package storm

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
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

var mixedColumns = []string{"writes/s", "reads/s", "read p50", "read p99", "database p99", "with wait p99", "refused/s"}

// A database is the target of a mixed storm.
type database interface {
	write(context.Context, int) error
	read(context.Context, int) error
}

// inDatabase runs a mixed storm, with a gate before the writes.
func inDatabase(t *testing.T, db database, guard func(context.Context) gate) result {
	ctx, from, during := schedule(t)
	writers := &crowd{clients: stormWriters, gate: guard(ctx), work: db.write}
	readers := &crowd{clients: stormReaders, gate: open, work: db.read, pause: readEvery}
	r := rage(ctx, from, during, writers, readers)
	if r["writes/s"] == 0 || r["reads/s"] == 0 {
		t.Errorf("%v: want some writes and reads", r)
	}
	return r
}

// The throttles for a database whose transactions wait for one another.
const (
	pidOnWaits    = "PID on lock waits"
	sixteenAtOnce = "MaxInFlight: 16"
	byDefault     = "Concurrency (default)"
)

// compareOnWaits compares the throttles, which follow the source, in the storm of a database. If
// byHand is set, one of them has a manual concurrency bound and no pace.
func compareOnWaits(t *testing.T, byHand bool, run func(*testing.T, func(context.Context) gate) result, source func(*testing.T) load.Source) map[string]result {
	t.Helper()
	through := func(name string, side throttle.Side) contender {
		return contender{name, func(t *testing.T) result {
			return run(t, func(ctx context.Context) gate { return onWaits(t, ctx, source(t), side) })
		}}
	}
	contenders := []contender{
		{unthrottled, func(t *testing.T) result {
			return run(t, func(context.Context) gate { return open })
		}},
		through(pidOnWaits, throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{}}}),
	}
	if byHand {
		sixteen := throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{Setpoint: 1e9}}, MaxInFlight: 16}
		contenders = append(contenders, through(sixteenAtOnce, sixteen))
	}
	return compare(t, mixedColumns, append(contenders, through(byDefault, throttle.Side{}))...)
}

// onWaits returns the gate of a throttle that follows the source until ctx ends.
func onWaits(t *testing.T, ctx context.Context, source load.Source, writes throttle.Side) gate {
	writes.Queue = weir.Queue{Size: 2 * stormWriters, Timeout: 5 * time.Second}
	return through(throttled(t, ctx, source, writes), 1)
}
