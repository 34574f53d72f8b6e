// Writer has 64 writers that put documents of 4 KB into a temporary Badger store in a closed
// loop. The store's tables are small, so that it behaves like a large one.
//
//	scripts/all go run ./examples/writer
//
// Without a throttle, the writers are faster than the store merges its tables. Writes are fast for
// a second or two, and then stall: the slowest write of a second takes 300 to 900 ms. A throttle
// admits writes at the rate of the merges. Once it knows that rate, the slowest write takes 20 to
// 60 ms, now and then more, at the cost of up to a third of the writes.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
	"github.com/weir-go/weir/throttle"
)

const writers = 64

func main() { crowd.Main(run) }

func run(ctx context.Context, show crowd.Show) error {
	fmt.Fprintf(show.Out, "%d writers put documents of 4 KB into a new Badger store.\n", writers)

	fmt.Fprintln(show.Out, "\nLet loose, they are faster than the store merges its tables, until it makes them wait:")
	loose, stall, err := write(ctx, show, throttle.Config{Off: true})
	if err != nil {
		return err
	}
	fmt.Fprintln(show.Out, "\nWith throttle.DrainRate, which lets in what the store digests:")
	paced, slowest, err := write(ctx, show, throttle.Config{Tick: tick, Writes: throttle.Side{
		Laws: []throttle.LoadLaw{throttle.DrainRate{}}, MaxInFlight: 16, Queue: weir.Queue{Size: writers},
	}})
	if err != nil {
		return err
	}
	fmt.Fprintf(show.Out, "\nIn the second half, %d writes ended and the slowest took %d ms without a throttle, and %d and %d ms with it.\n",
		loose, stall.Milliseconds(), paced, slowest.Milliseconds())
	return nil
}

const tick = 20 * time.Millisecond // several polls of the store for each table

// write runs the writers on a new store, behind a throttle.
func write(ctx context.Context, show crowd.Show, conf throttle.Config) (ended int, slowest time.Duration, err error) {
	dir, err := os.MkdirTemp("", "weir-writer")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	db, err := badger.Open(badger.DefaultOptions(dir).WithMemTableSize(1 << 20).
		WithValueThreshold(8 << 10).WithCompression(options.ZSTD).WithLogger(nil))
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	if conf.Monitor, err = load.New(load.Config{Sources: []load.Source{badgerload.New(db)}, Interval: tick}); err != nil {
		return 0, 0, err
	}
	th, err := throttle.New(conf)
	if err != nil {
		return 0, 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	go func() { _ = conf.Monitor.Run(ctx) }()
	go func() { _ = th.Run(ctx) }()

	var timings crowd.Timings
	for range writers {
		running.Go(func() {
			for ctx.Err() == nil {
				op, err := th.Acquire(ctx, throttle.Write, 1)
				if err != nil {
					return // the end: the queue has room for all writers, so it refuses none
				}
				began := time.Now()
				err = db.Update(func(tx *badger.Txn) error { return tx.Set([]byte(rand.Text()), crowd.Document(4<<10)) })
				op.Done(err)
				timings.Note(began, err)
			}
		})
	}
	return timings.Watch(ctx, show)
}
