package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/throttle"
)

// The crowd. Each writer starts its next write when its last has ended.
const (
	writers      = 64
	documentSize = 4 << 10
	// memtable is small, so that a store that is seconds old has the trouble that one
	// with Badger's own 64 MiB has after minutes.
	memtable = 1 << 20
)

// The durations that make sense: of all of it.
const (
	shortest = 2 * time.Second
	longest  = time.Minute
)

// lanes are the two that are compared. They run in turn: side by side, each would have what
// the other leaves of the machine.
var lanes = [...]struct {
	name  string
	guard guard
}{{"no throttle", unguarded}, {"drain rate", throttled}}

// show runs both storms, for so long together. It ends by itself, or early with ctx.
func show(ctx context.Context, duration time.Duration, out printer) error {
	each := duration / 2
	out.introduce(each)
	var rows []row
	for i := 0; i < len(lanes) && ctx.Err() == nil; i++ {
		row, err := weather(ctx, lanes[i].name, each, lanes[i].guard, out)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	out.compare(rows)
	return nil
}

// weather lets the storm rage in a fresh store.
func weather(ctx context.Context, name string, during time.Duration, g guard, out printer) (r row, err error) {
	dir, err := os.MkdirTemp("", "weir-demo-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	db, err := badger.Open(badger.DefaultOptions(dir).WithMemTableSize(memtable).
		WithValueThreshold(2 * documentSize).WithCompression(options.ZSTD).WithLogger(nil))
	if err != nil {
		return r, fmt.Errorf("open a Badger store: %w", err)
	}
	defer db.Close()

	ctx, cancel := context.WithCancel(ctx) // and no deadline, by which the throttle would refuse at once
	defer cancel()
	defer time.AfterFunc(during, cancel).Stop()
	th, err := g(ctx, db)
	if err != nil {
		return r, err
	}
	c := &crowd{db: db, throttle: th, readings: storm.Readings()}
	done := make(chan struct{})
	go func() { c.run(ctx); close(done) }()
	return out.watch(name, c, done), nil
}

// A guard returns the throttle that stands before a store, which runs until ctx ends.
type guard func(context.Context, *badger.DB) (*throttle.Throttle, error)

// unguarded is a throttle that is off: it neither waits nor measures.
func unguarded(context.Context, *badger.DB) (*throttle.Throttle, error) {
	return throttle.New(throttle.Config{Off: true})
}

func throttled(ctx context.Context, db *badger.DB) (*throttle.Throttle, error) {
	return storm.DrainRate(ctx, badgerload.New(db), writers, 1)
}
