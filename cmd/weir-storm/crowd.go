package main

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/internal/storm"
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

func (c *crowd) run(ctx context.Context) {
	storm.Clients{
		Number: writers,
		Gate:   storm.Through(c.throttle, throttle.Write, 1),
		Work:   func(context.Context, int) error { return c.db.Update(c.put) },
		Log:    func(_ int, e storm.Entry) { c.note(ctx, e) },
	}.Run(ctx)
}

func (c *crowd) note(ctx context.Context, e storm.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.Refused:
		c.refused++
	case e.Err == nil:
		c.database = append(c.database, e.Database())
		c.withWait = append(c.withWait, e.WithWait())
	case ctx.Err() == nil:
		c.fault = e.Err
	}
}

// put writes a document to a key that is anywhere, so that each compaction meets the whole
// store.
func (c *crowd) put(tx *badger.Txn) error {
	return tx.Set(binary.BigEndian.AppendUint64(nil, rand.Uint64()), storm.Part(c.readings, documentSize))
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
