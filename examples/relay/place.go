package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
)

// A place holds the directory of the events and the memory target of the process.
type place struct {
	dir       string
	megabytes uint64
	throttle  bool
}

func (p *place) declare(flags *flag.FlagSet) {
	flags.StringVar(&p.dir, "store", "relay-store", "`directory` of the store, which one process at a time has open")
	flags.Uint64Var(&p.megabytes, "memory", 512, "target for the memory of the process, in `MiB`")
	flags.BoolVar(&p.throttle, "throttle", true, "throttle the store; false shows what that is worth")
}

// leastMegabytes is twice the memory that an idle store with its smallest tables needs.
const leastMegabytes = 64

// open calls do with the store, and closes it.
func (p *place) open(do func(*store.Store) error) (err error) {
	if p.megabytes < leastMegabytes || p.megabytes > 1<<20 {
		return usageError{fmt.Errorf("-memory is %d: want %d to %d MiB", p.megabytes, leastMegabytes, 1<<20)}
	}
	events, err := store.Open(store.Options{Dir: p.dir, Memory: p.megabytes << 20})
	if err != nil && strings.Contains(err.Error(), "Another process is using") { // Badger has no error value for it
		return fmt.Errorf("%w: stop it first", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	return do(events)
}

// run calls do with a relay that runs on the store, until do returns.
func (p *place) run(ctx context.Context, c relay.Config, do func(context.Context, *relay.Server) error) error {
	return p.open(func(events *store.Store) error {
		c.Memory, c.Unthrottled, c.Processors = p.megabytes<<20, !p.throttle, widen()
		c, err := relay.Badger(c, events)
		if err != nil {
			return err
		}
		server, err := relay.New(c)
		if errors.Is(err, relay.ErrConfig) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- server.Run(ctx) }()
		go reclaim(ctx, events, c.Logger)
		err = do(ctx, server)
		stop()
		return errors.Join(err, <-ended)
	})
}

// threads is the number of threads that run Go code for each processor. With one, a
// goroutine that answers a client waits in the queue of Go's scheduler behind goroutines
// that verify, compact and read for others, each of which runs for up to 10 ms; the system
// prefers a thread of its own, because it has slept. TestFloods measures the effect.
const threads = 4

// widen runs Go code on more threads than there are processors, unless the environment sets
// GOMAXPROCS, and returns the number of processors.
var widen = sync.OnceValue(func() (processors int) {
	processors = runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threads * processors)
	}
	return processors
})

// reclaim frees the disk space of replaced events until ctx ends.
func reclaim(ctx context.Context, events *store.Store, log *slog.Logger) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := events.Reclaim(); err != nil && ctx.Err() == nil {
			log.Error("the room of replaced events was not given back", "error", err)
		}
	}
}
