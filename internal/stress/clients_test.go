package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// However often clients try, their refusals say when a slot comes free, and clients that heed
// it keep the server busy.
func TestClientsThatComeBack(t *testing.T) {
	heed := func(least time.Duration) func(time.Duration, float64) time.Duration {
		return func(told time.Duration, jitter float64) time.Duration {
			return max(least, time.Duration(float64(told)*(1+jitter)))
		}
	}
	for _, c := range []struct {
		name  string
		queue int
		pause func(told time.Duration, jitter float64) time.Duration
	}{
		{"when told", 0, heed(time.Millisecond)},
		{"when told, behind a queue of 10", 10, heed(time.Millisecond)},
		{"when told, but after a second at least", 0, heed(time.Second)},
		{"every 10 ms", 0, func(_ time.Duration, jitter float64) time.Duration {
			return time.Duration(float64(10*time.Millisecond) * (0.5 + jitter))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clients := retriers{limiter: weir.Must(weir.New(weir.Config{
					Initial: 10, Law: law.Fixed{}, Queue: weir.Queue{Size: c.queue},
				})), pause: c.pause}
				clients.come(t.Context(), 40, time.Minute)
				slices.Sort(clients.told)
				done, tries := float64(clients.done)/60, float64(clients.done+len(clients.told))/60
				told := func(percent int) time.Duration { return clients.told[len(clients.told)*percent/100] }
				t.Logf("%.1f done and %.1f tries per second; told p50 %v, p99 %v", done, tries, told(50), told(99))
				if done < 95 || told(99) > 500*time.Millisecond {
					t.Errorf("%.1f of 100 done per second, one in a hundred told to come back after more than %v",
						done, told(99))
				}
			})
		})
	}
}

// Retriers are clients in a closed loop that try again when they are refused.
type retriers struct {
	limiter *weir.Limiter
	pause   func(told time.Duration, jitter float64) time.Duration

	mu   sync.Mutex
	told []time.Duration // the RetryAfter of each refusal
	done int
}

func (c *retriers) come(ctx context.Context, clients uint64, lasts time.Duration) {
	ends := time.Now().Add(lasts)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for r := rand.New(rand.NewPCG(i, 0)); time.Now().Before(ends); {
				c.try(ctx, r)
			}
		})
	}
	all.Wait()
}

// try works for 100 ms in the mean, or pauses.
func (c *retriers) try(ctx context.Context, r *rand.Rand) {
	permit, err := c.limiter.Acquire(ctx)
	if refused := (*weir.RefusedError)(nil); errors.As(err, &refused) {
		c.mu.Lock()
		c.told = append(c.told, refused.RetryAfter)
		c.mu.Unlock()
		time.Sleep(c.pause(refused.RetryAfter, r.Float64()))
		return
	}
	time.Sleep(time.Duration(r.ExpFloat64() * float64(100*time.Millisecond)))
	permit.Done(err)
	c.mu.Lock()
	c.done++
	c.mu.Unlock()
}
