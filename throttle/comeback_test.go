package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A refusal says when to come back: within a factor of 3 of when an equal operation, asked for each 10 ms from then on, is
// first let in. Both count as 50 ms at least. It is so for two thirds of the refusals by a pace on these plants, and was for a third by the
// estimate of the limiter alone. Where hundreds of callers fight for a few starts a second, when one of them gets in is chance.
func TestRetryAfterIsRight(t *testing.T) {
	plants := map[string]func(source *rand.Rand) (*plant, throttle.Config){
		"steady tank": func(source *rand.Rand) (*plant, throttle.Config) {
			k := tank{drain: steady(20 + 400*source.Float64())}
			return k.plant(), throttle.Config{}
		},
		"tank that clogs": func(source *rand.Rand) (*plant, throttle.Config) {
			least, each := 5+30*source.Float64(), 5+10*source.Float64()
			k := tank{drain: func(at time.Duration) float64 {
				if int(at.Seconds()/each)%2 == 0 {
					return 400
				}
				return least
			}}
			return k.plant(), throttle.Config{}
		},
		"spikes": func(source *rand.Rand) (*plant, throttle.Config) {
			began, lasts, each := time.Now(), 1+4*source.Float64(), 10+10*source.Float64()
			p := &plant{}
			p.become(func() (load.Sample, error) {
				at := time.Since(began).Seconds()
				if at-float64(int(at/each))*each < lasts {
					return sampled(1.5), nil
				}
				return sampled(0.7), nil
			})
			return p, throttle.Config{}
		},
		"tree": func(source *rand.Rand) (*plant, throttle.Config) {
			return &tree().plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}}
		},
		"linear refusal": func(source *rand.Rand) (*plant, throttle.Config) {
			k := tank{drain: steady(50 + 300*source.Float64())}
			return k.plant(), throttle.Config{
				Emergency: throttle.Emergency{Enter: 1e9},
				Writes:    throttle.Side{Laws: []throttle.LoadLaw{throttle.LinearRefusal{Soft: 0.5, Hard: 1.5}}},
			}
		},
	}
	var all comebacks
	for name, begin := range plants {
		var of comebacks
		for seed := range 2 {
			synctest.Test(t, func(t *testing.T) {
				source := rand.New(rand.NewPCG(uint64(seed), 1))
				p, c := begin(source)
				c.Writes.Queue.Timeout = time.Duration(100+1900*source.Float64()) * time.Millisecond
				r := run(t, p, c)
				of.measure(r, 20+source.IntN(300), 40*time.Second)
			})
		}
		t.Logf("%-16s %v", name, &of)
		all.right += of.right
		all.early += of.early
		all.late += of.late
	}
	t.Logf("all              %v", &all)
	if n := all.right + all.early + all.late; all.right < n*6/10 || n < 1000 {
		t.Errorf("%d of %d are right, want six tenths of 1000 at least", all.right, n)
	}
}

// comebacks are how good the answers were.
type comebacks struct {
	mu                 sync.Mutex
	right, early, late int
}

func (c *comebacks) String() string {
	n := max(1, c.right+c.early+c.late)
	return fmt.Sprintf("%d refusals: %d%% right, %d%% too early, %d%% too late", n, 100*c.right/n, 100*c.early/n, 100*c.late/n)
}

// measure has so many clients write in a closed loop. Who is refused comes back when it was told to, or up to as much later.
func (c *comebacks) measure(r *rig, clients int, during time.Duration) {
	ctx, cancel := context.WithTimeout(r.t.Context(), during)
	defer cancel()
	var running sync.WaitGroup
	var next time.Time // when to take another refusal to the test
	for client := range clients {
		source := rand.New(rand.NewPCG(uint64(client), 2))
		running.Go(func() {
			for ctx.Err() == nil {
				err := r.Do(context.WithoutCancel(ctx), throttle.Write, 1, func(context.Context) error {
					time.Sleep(10 * time.Millisecond)
					return nil
				})
				refused := (*weir.RefusedError)(nil)
				switch {
				case err == nil:
					r.plant.write(1)
				case errors.As(err, &refused):
					if c.mu.Lock(); time.Now().After(next) && refused.Reason != weir.ReasonQueueTimeout {
						next = time.Now().Add(100 * time.Millisecond)
						running.Go(func() { c.judge(ctx, r, refused.RetryAfter) })
					}
					c.mu.Unlock()
					time.Sleep(max(time.Duration(float64(refused.RetryAfter)*(1+source.Float64())), time.Millisecond))
				}
			}
		})
	}
	running.Wait()
}

const atLeast = 50 * time.Millisecond

// judge asks each 10 ms whether an operation would be let in.
func (c *comebacks) judge(ctx context.Context, r *rig, told time.Duration) {
	began := time.Now()
	for r.Full(ctx, throttle.Write) != nil {
		if ctx.Err() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	took := max(time.Since(began), atLeast)
	told = max(told, atLeast)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case told > 3*took:
		c.late++
	case 3*told < took:
		c.early++
	default:
		c.right++
	}
}
