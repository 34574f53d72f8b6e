package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
)

type serving struct {
	dir              string
	megabytes        uint64
	throttle         bool
	listen, internal string
	conf             relay.Config // the settings set by flags
}

func (s *serving) declare(flags *flag.FlagSet) {
	flags.StringVar(&s.dir, "store", "relay-store", "`directory` of the store, which one process at a time has open")
	flags.Uint64Var(&s.megabytes, "memory", 512, "target for the memory of the process, in `MiB`")
	flags.BoolVar(&s.throttle, "throttle", true, "throttle the store; false shows what that is worth")
	flags.StringVar(&s.listen, "listen", "localhost:7777", "`address` for clients. Empty for none")
	flags.StringVar(&s.internal, "internal", "localhost:7778", "`address` for metrics and clients without a rate; nothing public may reach it. Empty for none")
	flags.IntVar(&s.conf.Connections, "connections", 0, "connections that there may be; 0 for 4000, or fewer if -memory has no room for them")
	flags.IntVar(&s.conf.ConnectionsPerAddress, "connections-per-address", 0, "connections of one address; 0 for 64")
	flags.Float64Var(&s.conf.ConnectionRate, "connection-rate", 0, "new connections per second; 0 for 200")
	flags.Float64Var(&s.conf.MessageRate, "message-rate", 0, "messages of a connection per second; 0 for 100")
	flags.IntVar(&s.conf.Subscriptions, "subscriptions", 0, "subscriptions of a connection; 0 for 32")
	flags.IntVar(&s.conf.Reads, "reads", 0, "queries that read at once; 0 for one less than the processors")
	flags.IntVar(&s.conf.Writes, "writes", 0, "events that are written at once; 0 for 8")
}

// leastMegabytes is twice the memory that an idle store with its smallest tables needs.
const leastMegabytes = 64

// run opens the store and serves until ctx ends, or a listener or the relay fails.
func (s *serving) run(ctx context.Context) (err error) {
	switch {
	case s.megabytes < leastMegabytes || s.megabytes > 1<<20:
		return usageError{fmt.Errorf("-memory is %d: want %d to %d MiB", s.megabytes, leastMegabytes, 1<<20)}
	case s.listen == "" && s.internal == "":
		return usageError{errors.New("-listen and -internal are both empty: want an address for one of them")}
	}
	events, err := store.Open(store.Options{Dir: s.dir, Memory: s.megabytes << 20})
	if err != nil && strings.Contains(err.Error(), "Another process is using") { // Badger has no error value for it
		return fmt.Errorf("%w: stop it first", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	s.conf.Memory, s.conf.Unthrottled, s.conf.Processors = s.megabytes<<20, !s.throttle, widen()
	c, err := relay.Badger(s.conf, events)
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
	go reclaim(ctx, events, s.conf.Logger)
	err = s.serve(ctx, server)
	stop()
	return errors.Join(err, <-ended)
}

// requestTimeout bounds a request, and the time between two: a browser on a slow network sends its
// request within a few seconds, and clients send no bodies. A WebSocket connection sets its own
// deadlines.
const requestTimeout = 10 * time.Second

// serve serves both listeners until ctx ends or one of them fails.
func (s *serving) serve(ctx context.Context, server *relay.Server) error {
	log := s.conf.Logger
	failed := make(chan error, 2)
	for _, l := range []struct {
		name, address string
		handler       http.Handler
	}{
		{"listen", s.listen, server.Handler()},
		{"internal", s.internal, server.Internal()},
	} {
		if l.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", l.address)
		if err != nil {
			return fmt.Errorf("-%s: %w", l.name, err)
		}
		log.Info("listening", "for", l.name, "address", listener.Addr().String())
		web := webOf(l.handler, log)
		defer web.Close()
		go func() { failed <- web.Serve(listener) }()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		log.Info("closing")
		return nil
	}
}

// webOf returns a server that bounds slow requests and quiet sockets.
func webOf(handler http.Handler, log *slog.Logger) *http.Server {
	q := quiet{sockets: map[net.Conn]struct{}{}}
	return &http.Server{
		Handler: handler, ReadTimeout: requestTimeout, IdleTimeout: requestTimeout,
		MaxHeaderBytes: maxHeader, ConnState: q.note,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// threads is the number of threads that run Go code for each processor. With one, a goroutine that
// answers a client waits in the queue of Go's scheduler behind goroutines that verify, compact and
// read for others, each of which runs for up to 10 ms. With a thread of its own it runs sooner,
// because the system prefers a thread that has slept. TestFloods measures the effect.
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
