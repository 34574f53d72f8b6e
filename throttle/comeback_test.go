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
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A refusal says when to come back: within a factor of 3 of when an equal operation, asked for each
// 10 ms from then on, is first let in. Both count as 50 ms at least.
//
// Where hundreds of callers fight for a few starts a second, when one of them gets in is chance,
// and 67.5% is the most that any answer reaches. More is right where it takes less than half a
// second, and where the queue has to get shorter first. The last two plants, and the
// seeds, were not looked at when the constants were chosen.
func TestRetryAfterIsRight(t *testing.T) {
	race.Skip(t, "takes a minute under the race detector")
	for name, plant := range map[string]struct {
		begin func(source *rand.Rand) (*plant, throttle.Config)
		want  int // percent that are right, some below the measurement
	}{
		"steady tank":     {steadyTank, 65},
		"tank that clogs": {cloggedTank, 65},
		"spikes":          {spikes, 65},
		"tree": {func(*rand.Rand) (*plant, throttle.Config) {
			return &tree().plant, throttle.Config{Writes: throttle.Side{
				Laws: []throttle.LoadLaw{throttle.DrainRate{}}, Queue: weir.Queue{Size: 10}, // its pace is so even that a long queue refuses nothing
			}}
		}, 60},
		"short queue": {func(source *rand.Rand) (*plant, throttle.Config) {
			p, c := steadyTank(source)
			c.Writes.Queue.Size = 1 + source.IntN(10)
			return p, c
		}, 60},
		"bound in flight": {boundInFlight, 65},
	} {
		var of comebacks
		for _, seed := range []uint64{1000, 1001} {
			synctest.Test(t, func(t *testing.T) {
				source := rand.New(rand.NewPCG(seed, 1))
				p, c := plant.begin(source)
				c.Writes.Queue.Timeout = time.Duration(100+1900*source.Float64()) * time.Millisecond
				r := run(t, p, c)
				of.measure(r, 20+source.IntN(200), 30*time.Second)
			})
		}
		t.Logf("%-16s %v", name, &of)
		if n := of.right + of.early + of.late; of.right*100 < n*plant.want || n < 10 {
			t.Errorf("%s: %d of %d are right, want %d%%", name, of.right, n, plant.want)
		}
	}
}

func steadyTank(source *rand.Rand) (*plant, throttle.Config) {
	k := tank{drain: steady(20 + 400*source.Float64())}
	return k.plant(), throttle.Config{}
}

func cloggedTank(source *rand.Rand) (*plant, throttle.Config) {
	least, each := 5+30*source.Float64(), 5+10*source.Float64()
	k := tank{drain: func(at time.Duration) float64 {
		if int(at.Seconds()/each)%2 == 0 {
			return 400
		}
		return least
	}}
	return k.plant(), throttle.Config{}
}

func spikes(source *rand.Rand) (*plant, throttle.Config) {
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
}

// boundInFlight is never loaded, and so few run at once that the queue is full.
func boundInFlight(source *rand.Rand) (*plant, throttle.Config) {
	p := &plant{}
	p.says(0.1)
	return p, throttle.Config{Writes: throttle.Side{
		MaxInFlight: 1 + source.IntN(3),
		Queue:       weir.Queue{Size: 1 + source.IntN(10)},
	}}
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

// measure has n clients write in a closed loop. A refused client comes back at its time
// to, or up to as much later.
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
					time.Sleep(5*time.Millisecond + time.Duration(source.IntN(10_000_000))) // not in step with those who ask
					return nil
				})
				refused := (*weir.RefusedError)(nil)
				switch {
				case err == nil:
					r.plant.write(1)
					// One that asks again at once would always have the place that it has left.
					time.Sleep(time.Duration(source.IntN(10_000_000)))
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
