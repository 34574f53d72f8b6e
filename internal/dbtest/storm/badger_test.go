package storm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

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
	medians := badgerStorm(t, documents(512))
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "at the stall %", paced, 0, unthrottled)
}

// TestBadgerAtEase writes incompressible values, which fill the log before compaction falls
// behind. There is no stall to prevent, and a throttle must cost little.
func TestBadgerAtEase(t *testing.T) {
	medians := badgerStorm(t, noise(64))
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
}

// The contenders.
const (
	unthrottled = "no throttle"
	sleeping    = "naive PID"
	paced       = "drain rate"
)

// badgerStorm compares the throttles of a store with memtables of 1 MiB, whose keys are all fresh.
func badgerStorm(t *testing.T, v variant) map[string]result {
	v.memtable, v.batch, v.fresh = smallMemtable, 1, true
	against := func(name string, guard func(context.Context, store) (storm.Gate, *throttle.Throttle)) contender {
		return contender{name, func(t *testing.T) result { return v.rage(t, openBadger(t, v), guard) }}
	}
	return compare(t, badgerColumns,
		against(unthrottled, openGate),
		against(sleeping, func(ctx context.Context, s store) (storm.Gate, *throttle.Throttle) {
			p := newNaive(s.badger)
			go p.monitor(ctx)
			return p.gate, nil
		}),
		against(paced, func(ctx context.Context, s store) (storm.Gate, *throttle.Throttle) {
			return drainRate(t, ctx, s, 128, 1)
		}),
	)
}

func openGate(context.Context, store) (storm.Gate, *throttle.Throttle) { return storm.Open, nil }

// drainRate returns the gate of the throttle for a store that digests writes later.
func drainRate(t *testing.T, ctx context.Context, s store, writers, batch int) (storm.Gate, *throttle.Throttle) {
	th := must.Have(storm.DrainRate(ctx, s.source, writers, batch))(t)
	return storm.Through(th, throttle.Write, batch), th
}

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
