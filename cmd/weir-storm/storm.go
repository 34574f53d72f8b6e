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
	name      string
	throttled bool
}{{"no throttle", false}, {"drain rate", true}}

// show runs both storms, for so long together. It ends by itself, or early with ctx.
func show(ctx context.Context, duration time.Duration, out printer) error {
	each := duration / 2
	out.introduce(each)
	var rows []row
	for i := 0; i < len(lanes) && ctx.Err() == nil; i++ {
		row, err := weather(ctx, lanes[i].name, each, lanes[i].throttled, out)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	out.compare(rows)
	return nil
}

// weather lets the storm rage in a fresh store.
func weather(ctx context.Context, name string, during time.Duration, throttled bool, out printer) (r row, err error) {
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
	th, err := throttle.New(throttle.Config{Off: true}) // it neither waits nor measures
	if throttled {
		th, err = storm.DrainRate(ctx, badgerload.New(db), writers, 1)
	}
	if err != nil {
		return r, err
	}
	c := &crowd{db: db, throttle: th, readings: storm.Readings()}
	done := make(chan struct{})
	go func() { c.run(ctx); close(done) }()
	return out.watch(name, c, done), nil
}
