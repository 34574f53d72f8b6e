package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/throttle"
)

// A crowd writes to a store in a closed loop.
type crowd struct {
	db       *badger.DB
	throttle *throttle.Throttle
	readings []byte

	mu       sync.Mutex
	database []time.Duration // how long the writes took
	withWait []time.Duration // and with the wait before them
	refused  int
	fault    error
}

// run writes until ctx ends.
func (c *crowd) run(ctx context.Context) {
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for ctx.Err() == nil {
				c.write(ctx)
			}
		})
	}
	all.Wait()
}

// write is one write: it waits for its turn first.
func (c *crowd) write(ctx context.Context) {
	asked := time.Now()
	op, err := c.throttle.Start(ctx, throttle.Write, 1)
	started := time.Now()
	if err == nil {
		err = c.db.Update(c.put)
		op.Done(err)
	}
	c.note(ctx, err, started.Sub(asked), time.Since(started))
}

func (c *crowd) note(ctx context.Context, err error, waited, took time.Duration) {
	refusal := (*weir.RefusedError)(nil)
	c.mu.Lock()
	switch {
	case errors.As(err, &refusal):
		c.refused++
	case err == nil:
		c.database = append(c.database, took)
		c.withWait = append(c.withWait, waited+took)
	case ctx.Err() == nil:
		c.fault = err
	}
	c.mu.Unlock()
	if refusal != nil {
		pause(ctx, time.Duration(float64(refusal.RetryAfter)*(1+rand.Float64())))
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// put writes a document to a key that is anywhere, so that each compaction meets the whole
// store.
func (c *crowd) put(tx *badger.Txn) error {
	at := rand.IntN(len(c.readings) - documentSize)
	return tx.Set(binary.BigEndian.AppendUint64(nil, rand.Uint64()), c.readings[at:at+documentSize])
}

// readings is JSON, of which each document is a part: to make it while the storm lasts would
// take processors that the store needs.
func readings() []byte {
	const size = 1 << 20
	text := make([]byte, 0, size)
	for len(text) < size {
		text = fmt.Appendf(text, `{"sensor":"s-%04d","second":%d,"value":%.3f,"unit":"C","state":"ok"},`,
			rand.IntN(1000), rand.IntN(24*60*60), 20+5*rand.NormFloat64())
	}
	return text
}

// since returns the latencies of the writes after the first so many, sorted.
func (c *crowd) since(first int) (database, withWait []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	database, withWait = slices.Clone(c.database[first:]), slices.Clone(c.withWait[first:])
	slices.Sort(database)
	slices.Sort(withWait)
	return database, withWait
}

// quantile returns the smallest of sorted latencies that a share q of them do not exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}
