package storm

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
)

var (
	repeats = flag.Int("repeats", 0, "how often each storm is measured, 0 for a short try")
	warmUp  = flag.Duration("warmup", 4*time.Second, "how long a storm lasts before it is measured")
	lasts   = flag.Duration("lasts", 8*time.Second, "how long a storm is measured")
)

// A gate is what an operation has to pass before it starts. It returns what to call when
// the operation is over.
type gate func(ctx context.Context) (done func(error), err error)

// open lets everything pass.
func open(context.Context) (func(error), error) { return func(error) {}, nil }

// A crowd is a number of clients in a closed loop: each starts its next operation when
// its last has ended.
type crowd struct {
	clients int
	gate    gate
	work    func(ctx context.Context, client int) error
	pause   time.Duration // of a client between two operations
	log     ledger
}

// run drives the crowd until ctx ends. Only what begins after the storm has warmed up counts.
func (c *crowd) run(ctx context.Context, from time.Time) {
	var running sync.WaitGroup
	c.log.entries = make([][]entry, c.clients)
	for client := range c.clients {
		running.Go(func() {
			for ctx.Err() == nil {
				if e, ok := c.once(ctx, client); ok && e.asked.After(from) {
					c.log.entries[client] = append(c.log.entries[client], e)
				}
				if c.pause > 0 {
					pause(ctx, c.pause)
				}
			}
		})
	}
	running.Wait()
}

// once is one operation. It reports false for one that the end of the storm cut short.
func (c *crowd) once(ctx context.Context, client int) (e entry, ok bool) {
	e.asked = time.Now()
	done, err := c.gate(ctx)
	e.started = time.Now()
	if refusal := (*weir.RefusedError)(nil); errors.As(err, &refusal) {
		pause(ctx, max(time.Duration(float64(refusal.RetryAfter)*(1+rand.Float64())), time.Millisecond))
		e.refused = true
		return e, true
	}
	if err != nil {
		return e, false
	}
	err = c.work(ctx, client)
	e.ended = time.Now()
	done(err)
	e.left = time.Now()
	return e, err == nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// schedule is when a storm begins to count and when it ends. Its context has no deadline,
// for a throttle refuses at once who cannot be served by then.
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
