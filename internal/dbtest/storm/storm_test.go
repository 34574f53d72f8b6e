package storm

import (
	"context"
	"flag"
	"testing"
	"time"
)

var (
	repeats = flag.Int("repeats", 0, "how often each storm is measured, 0 for a short try")
	warmUp  = flag.Duration("warmup", 4*time.Second, "how long a storm lasts before it is measured")
	lasts   = flag.Duration("lasts", 8*time.Second, "how long a storm is measured")
)

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

// atTheStall samples a store from a given time on and returns the share of samples in which
// it was full.
func atTheStall(ctx context.Context, s store, from time.Time) float64 {
	found, samples := 0, 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return float64(found) / float64(max(samples, 1))
		case now := <-tick.C:
			if now.Before(from) {
				continue
			}
			samples++
			if s.stalls() {
				found++
			}
		}
	}
}
