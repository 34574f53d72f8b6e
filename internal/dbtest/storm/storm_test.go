package storm

import (
	"context"
	"flag"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

var (
	repeats = flag.Int("repeats", 0, "how often each storm is measured; 0 for one short try of the documents")
	warmUp  = flag.Duration("warmup", 4*time.Second, "how long a storm lasts before it is measured")
	lasts   = flag.Duration("lasts", 8*time.Second, "how long a storm is measured")
)

// measure skips a storm of which a short try shows nothing that the try of the documents does not.
func measure(t *testing.T) {
	t.Helper()
	if *repeats == 0 {
		t.Skip("only measures: -repeats 5 runs it")
	}
}

// schedule returns when a storm begins to count and when it ends. Its context has no
// deadline, because a throttle refuses requests at once if it cannot serve them by then.
func schedule(t *testing.T) (ctx context.Context, from time.Time, during time.Duration) {
	warm, lasts := *warmUp, *lasts
	if *repeats == 0 {
		warm, lasts = 200*time.Millisecond, time.Second
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	time.AfterFunc(warm+lasts, cancel)
	return ctx, time.Now().Add(warm), lasts
}

// often calls look once in each interval until ctx ends.
func often(ctx context.Context, interval time.Duration, look func(now time.Time)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			look(now)
		}
	}
}

const sampled = 20 * time.Millisecond

// atTheStall samples a store from a given time on and returns the share of samples in which
// it was full.
func atTheStall(ctx context.Context, s store, from time.Time) float64 {
	found, samples := 0, 0
	often(ctx, sampled, func(now time.Time) {
		if now.Before(from) {
			return
		}
		samples++
		if s.stalls() {
			found++
		}
	})
	return float64(found) / float64(max(samples, 1))
}

// mostMemory returns the peak memory of the process until ctx ends, including the records of
// the operations.
func mostMemory(ctx context.Context) (most float64) {
	var memory load.Memory
	often(ctx, sampled, func(time.Time) {
		sample, err := memory.Poll(ctx)
		if err != nil {
			most = math.NaN()
			return
		}
		most = max(most, sample.Readings[0].Value)
	})
	return most
}
