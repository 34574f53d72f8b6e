package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
)

// However often clients try, their refusals say when a slot comes free, and clients that honor
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

func (c *retriers) come(ctx context.Context, clients int, lasts time.Duration) {
	ends := time.Now().Add(lasts)
	together.Do(clients, func(i int) {
		for r := rand.New(rand.NewPCG(uint64(i), 0)); time.Now().Before(ends); {
			c.try(ctx, r)
		}
	})
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

// A service is a pool of workers behind a limiter with the default law. Requests come at random,
// 1.2 times as many as the pool can do, while some long streams may hold permits.
type service struct {
	*weir.Limiter
	workers    chan struct{}
	good, late atomic.Int64
}

const (
	poolSize    = 15
	streams     = 20
	serviceTime = 20 * time.Millisecond
)

// busy serves requests for the given time. It returns when the last of them is done.
func (s *service) busy(ctx context.Context, lasting time.Duration, seed uint64) {
	until := time.Now().Add(lasting)
	r := rand.New(rand.NewPCG(seed, 1))
	for between := float64(serviceTime) / (1.2 * poolSize); time.Now().Before(until); {
		time.Sleep(time.Duration(r.ExpFloat64() * between))
		takes := time.Duration(r.ExpFloat64() * float64(serviceTime))
		go s.request(ctx, takes)
	}
	time.Sleep(time.Second)
}

func (s *service) request(ctx context.Context, takes time.Duration) {
	began := time.Now()
	err := s.Do(ctx, func(context.Context) error {
		s.workers <- struct{}{}
		time.Sleep(takes)
		<-s.workers
		return nil
	})
	switch {
	case err != nil:
	case time.Since(began) < 10*serviceTime:
		s.good.Add(1)
	default:
		s.late.Add(1)
	}
}

// stream holds a permit until the context ends. It takes no worker.
func (s *service) stream(ctx context.Context, measure func(weir.Permit)) {
	for ctx.Err() == nil {
		permit, err := s.Acquire(ctx)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		measure(permit)
		<-ctx.Done()
		permit.Done(nil)
	}
}

// beside runs the service for a minute beside streams and for a minute without them, and returns
// how many requests were good and late in each, and the state at the end of the first.
func beside(t *testing.T, n int, seed uint64, measure func(weir.Permit)) (good, late [2]int64, among weir.Snapshot) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{Limiter: weir.Must(weir.New(weir.Config{})), workers: make(chan struct{}, poolSize)}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for range n {
			go s.stream(ctx, measure)
		}
		for i := range good {
			go func() {
				time.Sleep(time.Minute - time.Millisecond)
				if i == 0 {
					among = s.Snapshot()
				}
			}()
			s.busy(t.Context(), time.Minute, seed)
			good[i], late[i] = s.good.Swap(0), s.late.Swap(0)
			end()
			synctest.Wait()
		}
		limittest.Balanced(t, s.Snapshot())
	})
	return good, late, among
}

// Streams that are measured right away leave the service as it is without them, while they hold
// their slots and when all end at once. Streams that are not take most of it.
func TestStreamsBesideRequests(t *testing.T) {
	ignored := func(p weir.Permit) { p.Measure(weir.Ignore) }
	seeds := uint64(3)
	if race.Enabled {
		seeds = 1 // each takes five seconds there
	}
	for seed := range seeds {
		alone, _, usual := beside(t, 0, seed, nil)
		good, late, s := beside(t, streams, seed, ignored)
		t.Logf("good %v, late %v, limit %d, age %v; without streams good %v, limit %d",
			good, late, s.Limit, s.Age, alone, usual.Limit)
		for i := range good {
			if float64(good[i]) < 0.97*float64(alone[i]) || late[i] > good[i]/100 {
				t.Errorf("minute %d: %d good and %d late, and %d good without streams", i, good[i], late[i], alone[i])
			}
		}
		if s.InFlight < streams || s.Limit < streams+poolSize/2 || s.Limit > streams+4*poolSize {
			t.Errorf("%d in flight, limit %d", s.InFlight, s.Limit)
		}
		if s.Age > time.Second {
			t.Errorf("the oldest work is %v old", s.Age)
		}
		held, _, s := beside(t, streams, seed, func(weir.Permit) {})
		t.Logf("not measured: good %v, limit %d, age %v", held, s.Limit, s.Age)
		if held[0] > alone[0]/2 || s.Age < 50*time.Second {
			t.Errorf("streams that are not measured leave %d good, age %v: is there still a difference?",
				held[0], s.Age)
		}
	}
}
