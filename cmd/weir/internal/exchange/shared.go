package exchange

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/internal/quota"
	"github.com/weir-go/weir/law"
)

// A Shared is the state that all routes of a proxy share. A reload updates it, so running
// requests also count against the new bounds. All methods are safe for concurrent use.
type Shared struct {
	life    context.Context //nolint:containedctx // it ends with the proxy, and with it every request to an upstream
	onFault func(what string, err error)

	streams, sockets, events, exempt *weir.Limiter

	draining  context.Context //nolint:containedctx // ends when the proxy waits for its last requests
	drain     context.CancelFunc
	uploads   shares                  // by compartment
	streamsOf shares                  // by route
	stored    quota.Quota[netip.Addr] // bytes in temporary files

	memory  memory
	setting atomic.Pointer[setting]
	counts  counters
	pause   time.Duration // tests change it
	disk    diskTurns
	create  func(directory string) (file, error)
}

// setting holds the settings that a request reads once, at its beginning.
type setting struct {
	config.Buffers
	config.Streams
	store int64 // bytes in temporary files
}

// New returns the state that routes share. All requests to upstreams end with the context. onFault,
// if not nil, receives the errors of upstreams that gave no answer or a partial answer, and the
// errors of the disk. It may be called concurrently.
func New(ctx context.Context, c *config.Config, onFault func(what string, err error)) (*Shared, error) {
	if onFault == nil {
		onFault = func(string, error) {}
	}
	s := &Shared{
		life: ctx, onFault: onFault, pause: pause, disk: make(diskTurns, mostAtDisk), create: createFile,
		uploads: shares{name: "uploads"}, streamsOf: shares{name: "streams"},
	}
	s.draining, s.drain = context.WithCancel(ctx)
	if err := s.Update(c); err != nil {
		return nil, err
	}
	return s, nil
}

// Update applies another configuration. Requests above a lower cap continue.
func (s *Shared) Update(c *config.Config) (err error) {
	for _, of := range []struct { // no law can limit them
		limiter **weir.Limiter
		name    string
		most    int
	}{
		{&s.streams, "streams", c.Streams.Max},
		{&s.sockets, "websockets", c.Streams.WebSockets},
		{&s.events, "events", c.Streams.Events},
		{&s.exempt, "exempt", c.Exempt.Max},
	} {
		fixed := weir.Config{Name: of.name, Law: law.Fixed{Limit: of.most}, Initial: of.most, Max: of.most}
		if *of.limiter == nil {
			*of.limiter, err = weir.New(fixed)
		} else {
			err = (*of.limiter).Update(fixed)
		}
		if err != nil {
			return err
		}
	}
	s.memory.bound.Store(int64(c.Buffers.Memory))
	s.setting.Store(&setting{c.Buffers, c.Streams, storeOf(c.Buffers)})
	return nil
}

// Drain prepares the end of the proxy: from now on a request ends when its client leaves,
// because the proxy would otherwise wait for it.
func (s *Shared) Drain() { s.drain() }

// EndSockets waits until the upgraded connections have ended. If ctx ends before, it returns an
// error.
func (s *Shared) EndSockets(ctx context.Context) error { return s.sockets.Shutdown(ctx) }

// Close refuses all further streams and exempt requests. The gates of the routes stay open.
func (s *Shared) Close() {
	for _, lim := range s.Caps() {
		lim.Close()
	}
}

// Caps returns the limiters of streams, WebSockets, event streams and exempt requests, for metrics.
func (s *Shared) Caps() []*weir.Limiter {
	return []*weir.Limiter{s.streams, s.sockets, s.events, s.exempt}
}

// A Gate admits the requests of a compartment: a [*weir.Limiter], or the handle of a
// bulkhead. Full returns the refusal that Acquire would return now.
type Gate interface {
	weir.Admitter
	Full(ctx context.Context) error
	Snapshot() weir.Snapshot
}

// A Route answers the requests of a route.
type Route struct {
	shared   *Shared
	gate     Gate
	upstream *upstream.Pool
	config   config.Route
}

// Route returns a route. Its requests take a slot of the gate, or for an exempt route a slot of the
// cap on exempt requests. They then go to the upstream, which sets the address of a request.
// Refusals are answered as in package weirhttp.
func (s *Shared) Route(gate Gate, to *upstream.Pool, c config.Route) *Route {
	if c.Exempt {
		gate = s.exempt
	}
	return &Route{shared: s, gate: gate, upstream: to, config: c}
}
