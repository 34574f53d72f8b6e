package storm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A gate admits an operation before it starts. The caller calls done when the operation
// ends.
type gate func(ctx context.Context) (done func(error), err error)

// open lets everything pass.
func open(context.Context) (func(error), error) { return func(error) {}, nil }

// through returns a gate that admits writes of the given cost through a throttle.
func through(th *throttle.Throttle, cost int) gate {
	return func(ctx context.Context) (func(error), error) {
		permit, err := th.Acquire(ctx, throttle.Write, cost)
		return permit.Done, err
	}
}

// throttled returns a throttle of writes that follows a source. It runs until ctx ends.
func throttled(t *testing.T, ctx context.Context, source load.Source, writes throttle.Side) *throttle.Throttle {
	mon := must.Have(load.New(load.Config{Sources: []load.Source{source}}))(t)
	th := must.Have(throttle.New(throttle.Config{Monitor: mon, Writes: writes}))(t)
	go mon.Run(ctx)
	go th.Run(ctx)
	return th
}

// A crowd is a number of clients in a closed loop: each starts its next operation when its
// last has ended.
type crowd struct {
	clients int
	gate    gate
	work    func(ctx context.Context, client int) error
	pause   time.Duration // of a client between two operations
	await   func(ctx context.Context)
	log     ledger
}

// run drives the crowd until ctx ends, and returns after every client has. It counts only
// operations that succeed after the warm-up and before ctx ends, so that a wait before a
// throttle and one inside a store count the same. It counts refusals in the same period.
func (c *crowd) run(ctx context.Context, from time.Time) {
	together.Do(c.clients, func(client int) {
		for ctx.Err() == nil {
			if c.await != nil {
				c.await(ctx)
			}
			asked := time.Now()
			database, err := c.once(ctx, client)
			if now := time.Now(); ctx.Err() == nil && now.After(from) {
				c.log.add(database, now.Sub(asked), err)
			}
			if c.pause > 0 {
				pause(ctx, c.pause)
			}
		}
	})
}

// once runs one operation, and returns the latency from its start. A refused client waits
// for one to two times RetryAfter, so that the refused clients do not all return at once.
func (c *crowd) once(ctx context.Context, client int) (database time.Duration, err error) {
	done, err := c.gate(ctx)
	if refusal := (*weir.RefusedError)(nil); errors.As(err, &refusal) {
		pause(ctx, max(time.Duration(float64(refusal.RetryAfter)*(1+rand.Float64())), time.Millisecond))
	}
	if err != nil {
		return 0, err
	}
	started := time.Now()
	err = c.work(ctx, client)
	database = time.Since(started)
	done(err)
	return database, err
}

// pause sleeps for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// rage runs a storm of writers and readers until ctx ends, and measures what both did.
func rage(ctx context.Context, from time.Time, during time.Duration, writers, readers *crowd) result {
	var reading sync.WaitGroup
	reading.Go(func() { readers.run(ctx, from) })
	writers.run(ctx, from)
	reading.Wait()
	written, read := &writers.log, &readers.log
	return result{
		"writes/s":      float64(len(written.database)) / during.Seconds(),
		"database p50":  written.database.quantile(0.5),
		"database p99":  written.database.quantile(0.99),
		"with wait p50": written.withWait.quantile(0.5),
		"with wait p99": written.withWait.quantile(0.99),
		"refused/s":     float64(written.refused) / during.Seconds(),
		"reads/s":       float64(len(read.database)) / during.Seconds(),
		"read p50":      read.database.quantile(0.5),
		"read p99":      read.database.quantile(0.99),
	}
}

// A ledger holds the latencies of operations that succeeded, from their start and including
// the wait before it, and counts the refused ones.
type ledger struct {
	mu                 sync.Mutex
	database, withWait latencies
	refused            int
}

func (l *ledger) add(database, withWait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, weir.ErrRefused):
		l.refused++
	case err == nil:
		l.database, l.withWait = append(l.database, database), append(l.withWait, withWait)
	}
}

type latencies []time.Duration

// quantile returns the q-quantile of the latencies, in ms. It sorts them.
func (l latencies) quantile(q float64) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	slices.Sort(l)
	return l[max(int(math.Ceil(q*float64(len(l))))-1, 0)].Seconds() * 1000
}

// TestCrowdCountsWhatEnds checks that an operation that began in the warm-up counts if it
// ends in the storm, and that one that outlasts the storm does not. A throttle lets nothing
// wait beyond the end, so the opposite rule would lose an operation for each client.
func TestCrowdCountsWhatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c := &crowd{clients: 3, gate: open, work: func(context.Context, int) error {
			time.Sleep(4 * time.Second) // ends at 4, 8 and 12
			return nil
		}}
		c.run(ctx, time.Now().Add(2*time.Second))
		if done := len(c.log.database); done != 2*3 {
			t.Errorf("%d operations counted, want 2 of each of 3 clients", done)
		}
	})
}
