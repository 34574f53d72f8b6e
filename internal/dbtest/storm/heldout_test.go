package storm

import (
	"context"
	"flag"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", heldOutSeed, "of the storms that the laws were not tuned with")

// byHand is the contender that knows the rate.
const byHand = "bucket set by hand"

var heldOutColumns = []string{"writes/s", "database p99", "with wait p50", "with wait p99", "at the stall %", "read p99", "refused/s"}

// TestHeldOutBadger runs storms on Badger with which the laws were not tuned.
func TestHeldOutBadger(t *testing.T) {
	measure(t)
	for _, v := range variants(*seed) {
		t.Run(v.name, func(t *testing.T) {
			t.Log(v)
			var rate float64 // of the preceding storm without a throttle
			free := v.behind(unthrottled, openGate)
			noted := contender{unthrottled, func(t *testing.T) result {
				r := free.run(t)
				rate = r["writes/s"]
				return r
			}}
			bucketOf := func(*testing.T, context.Context, store) gate {
				return (&bucket{every: time.Duration(float64(v.batch) / (0.9 * rate) * float64(time.Second))}).gate
			}
			medians := compare(t, heldOutColumns, noted, v.behind(paced, drainRate(v.writers, v.batch)), v.behind(byHand, bucketOf))
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
	if have := medians[paced]["at the stall %"]; have > most {
		t.Errorf("at the stall in %.3g%% of the samples, want %v%%", have, most)
	}
}

// behind returns the contender that runs the storm on a store behind a guard.
func (v variant) behind(name string, g guard) contender {
	return contender{name, func(t *testing.T) result { return v.rage(t, openBadger(t, v), g) }}
}

func (v variant) rage(t *testing.T, s store, g guard) result {
	defer s.Close()
	debug.FreeOSMemory() // garbage of the last storm
	ctx, from, during := v.schedule(t)
	writers := &crowd{
		clients: v.writers, gate: g(t, ctx, s), await: v.await(),
		work: func(context.Context, int) error { return s.write(v) },
	}
	readers := &crowd{
		clients: v.readers, gate: open, pause: time.Millisecond,
		work: func(context.Context, int) error { return s.read(v) },
	}
	stall, memory := make(chan float64), make(chan float64)
	go func() { stall <- atTheStall(ctx, s, from) }()
	go func() { memory <- mostMemory(ctx) }()
	r := rage(ctx, from, during, writers, readers)
	if r["writes/s"] == 0 {
		t.Error("nothing was written")
	}
	r["writes/s"] *= float64(v.batch)
	r["at the stall %"], r["peak MB"] = 100*<-stall, <-memory/1e6
	return r
}

// schedule returns the schedule of a constant storm or, if it comes in bursts, of the second
// of two.
func (v variant) schedule(t *testing.T) (ctx context.Context, from time.Time, during time.Duration) {
	if v.off == 0 {
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
