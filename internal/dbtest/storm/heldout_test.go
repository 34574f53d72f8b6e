package storm

import (
	"context"
	"flag"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/throttle"
)

var seed = flag.Uint64("seed", heldOutSeed, "of the storms that the laws were not tuned with")

// byHand is the contender that knows the rate.
const byHand = "bucket set by hand"

var heldOutColumns = []string{"writes/s", "database p99", "with wait p50", "with wait p99", "at the stall %", "read p99", "refused/s", "emergencies"}

// TestHeldOutBadger runs storms on Badger with which the laws were not tuned.
func TestHeldOutBadger(t *testing.T) {
	for _, v := range variants(*seed) {
		if *repeats == 0 {
			if v.batch == 1 {
				continue // a short try has only one
			}
			v.writers = 4 // with more, a batch may take longer than the try under the race detector
		}
		t.Run(v.name, func(t *testing.T) {
			t.Log(v)
			var rate float64 // of the preceding storm without a throttle
			medians := compare(t, heldOutColumns,
				contender{unthrottled, func(t *testing.T) result {
					r := v.rage(t, openBadger(t, v), openGate)
					rate = r["writes/s"]
					return r
				}},
				contender{paced, func(t *testing.T) result {
					return v.rage(t, openBadger(t, v), func(ctx context.Context, s store) (gate, *throttle.Throttle) {
						return drainRate(t, ctx, s, v.writers, v.batch)
					})
				}},
				contender{byHand, func(t *testing.T) result {
					return v.rage(t, openBadger(t, v), func(context.Context, store) (gate, *throttle.Throttle) {
						return (&bucket{every: time.Duration(float64(v.batch) / (0.9 * rate) * float64(time.Second))}).gate, nil
					})
				}},
			)
			v.judge(t, medians)
		})
	}
}

// stalled is the share of samples, in percent, from which a storm counts as stalling the
// store.
const stalled = 3

// judge compares the throttled storm with the targets.
func (v variant) judge(t *testing.T, medians map[string]result) {
	if medians[unthrottled]["at the stall %"] < stalled {
		atLeast(t, medians, "writes/s", paced, 0.95, unthrottled)
		atMost(t, medians, "with wait p99", paced, 1.15, unthrottled)
		return
	}
	atLeast(t, medians, "writes/s", paced, 0.9, unthrottled)
	atMost(t, medians, "database p99", paced, 1./5, unthrottled)
	atMost(t, medians, "with wait p99", paced, 1./2, unthrottled)
	atLeast(t, medians, "writes/s", paced, 1, byHand)
	atMost(t, medians, "with wait p99", paced, 1.2, byHand)
	most := 0.0
	if v.off > 0 {
		most = stalled
	}
	if have := medians[paced]["at the stall %"]; *repeats > 0 && have > most {
		t.Errorf("at the stall in %.3g%% of the samples, want %v%%", have, most)
	}
}

// rage runs the storm on a store.
func (v variant) rage(t *testing.T, s store, guard func(context.Context, store) (gate, *throttle.Throttle)) result {
	defer s.Close()
	debug.FreeOSMemory() // garbage of the last storm
	ctx, from, during := v.schedule(t)
	admit, th := guard(ctx, s)
	writers := &crowd{
		clients: v.writers, gate: admit, await: v.await(),
		work: func(context.Context, int) error { return s.write(v) },
	}
	readers := &crowd{
		clients: v.readers, gate: open, pause: time.Millisecond,
		work: func(context.Context, int) error { return s.read(v) },
	}
	stall, memory := make(chan float64), make(chan float64)
	go func() { stall <- atTheStall(ctx, s, from) }()
	go func() { memory <- mostMemory(ctx) }()
	var reading sync.WaitGroup
	reading.Go(func() { readers.run(ctx, from) })
	writers.run(ctx, from)
	reading.Wait()

	database, withWait := writers.log.database, writers.log.withWait
	if len(database) == 0 {
		t.Error("nothing was written")
	}
	r := result{
		"writes/s":       float64(len(database)*v.batch) / during.Seconds(),
		"database p50":   database.quantile(0.5),
		"database p99":   database.quantile(0.99),
		"with wait p50":  withWait.quantile(0.5),
		"with wait p99":  withWait.quantile(0.99),
		"at the stall %": 100 * <-stall,
		"peak MB":        <-memory / 1e6,
		"refused/s":      float64(writers.log.refused) / during.Seconds(),
	}
	if v.readers > 0 {
		r["read p99"] = readers.log.database.quantile(0.99)
	}
	if th != nil {
		r["emergencies"] = float64(th.Snapshot().Writes.Emergencies)
	}
	return r
}

// schedule returns the schedule of a constant storm or, if it comes in bursts, of the second
// of two.
func (v variant) schedule(t *testing.T) (ctx context.Context, from time.Time, during time.Duration) {
	if v.off == 0 || *repeats == 0 {
		return schedule(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	time.AfterFunc(v.on+v.off+v.on, cancel)
	return ctx, time.Now().Add(v.on + v.off), v.on
}

// await returns the function with which a client waits for the next burst.
func (v variant) await() func(context.Context) {
	if v.off == 0 {
		return nil
	}
	began := time.Now()
	return func(ctx context.Context) {
		if into := time.Since(began) % (v.on + v.off); into >= v.on {
			pause(ctx, v.on+v.off-into)
		}
	}
}

// A bucket admits operations at an even rate.
type bucket struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

func (b *bucket) gate(ctx context.Context) (func(error), error) {
	b.mu.Lock()
	turn := b.next
	if now := time.Now(); turn.Before(now) {
		turn = now
	}
	b.next = turn.Add(b.every)
	b.mu.Unlock()
	pause(ctx, time.Until(turn))
	return func(error) {}, ctx.Err()
}
