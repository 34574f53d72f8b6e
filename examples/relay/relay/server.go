package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/throttle"
)

// A Server is a relay. Make one with [New]; its owner calls Run, and serves Handler and Internal.
// All methods are safe for concurrent use.
type Server struct {
	conf      Config
	monitor   *load.Monitor
	throttle  *throttle.Throttle
	governor  *memory.Governor
	verifier  *weir.Limiter
	admission *admission
	live      *live
	counts    *counts
	unsaved   rate.Sometimes // logs events that were not saved: on a full disk, that is all of them
	unread    rate.Sometimes // logs queries that failed: a client can repeat one

	closing context.Context //nolint:containedctx // ends when the context of Run has
	close   context.CancelFunc

	mu   sync.Mutex     // so that no connection begins once the server closes
	work sync.WaitGroup // connections
}

// New returns a server. Until Run has returned it owns the memory governor of the process, which
// has only one: see memory.ErrTaken. Other errors match [ErrConfig], or the errors of the packages
// memory, load and throttle.
func New(c Config) (*Server, error) {
	connections := c.Connections
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{conf: c, live: newLive()}
	s.unsaved.Interval, s.unread.Interval = time.Minute, time.Minute
	s.closing, s.close = context.WithCancel(context.Background())
	if s.monitor, err = load.New(load.Config{Sources: c.Sources}); err != nil {
		return nil, err
	}
	if s.throttle, err = newThrottle(c, s.monitor); err != nil {
		return nil, err
	}
	if s.verifier, err = newVerifier(c); err != nil {
		return nil, err
	}
	s.governor, err = memory.New(memory.Config{
		Target: c.Memory, Mapped: c.Mapped,
		OnEvent: func(e memory.Event) { c.Logger.Warn(e.String()) },
	})
	if err != nil {
		return nil, err
	}
	if s.conf, err = c.bounded(connections, s.governor.Snapshot().Target); err != nil {
		s.governor.Close()
		return nil, err
	}
	s.admission = newAdmission(s.conf)
	s.counts = newCounts(s)
	return s, nil
}

const (
	// queued is the number of operations that wait for the store, or events that wait
	// for verification: a few of each connection.
	queued = 4096
	// patience is the longest wait before a refusal. A client without an answer for
	// longer sends its message again.
	patience = 5 * time.Second
	// tenants is the number of connections with messages in progress that have a share each.
	tenants = 256
)

func fairQueue() weir.Queue { return weir.Queue{Size: queued, Timeout: patience, Tenants: tenants} }

// newThrottle paces writes at the drain rate of the store, and bounds the number of concurrent
// operations.
func newThrottle(c Config, monitor *load.Monitor) (*throttle.Throttle, error) {
	return throttle.New(throttle.Config{
		Name: "store", Monitor: monitor, Off: c.Unthrottled,
		Reads:   throttle.Side{MaxInFlight: c.Reads, Queue: fairQueue()},
		Writes:  throttle.Side{MaxInFlight: c.Writes, Queue: fairQueue(), Laws: []throttle.LoadLaw{throttle.DrainRate{}}},
		OnEvent: func(e throttle.Event) { c.Logger.Warn(e.String()) },
	})
}

// newVerifier bounds the number of signatures verified at once. Verification only needs a
// processor, so the right number is known. With a higher number each verification would take
// longer, and none would end earlier.
func newVerifier(c Config) (*weir.Limiter, error) {
	n := c.busy()
	return weir.New(weir.Config{Name: "verification", Min: n, Max: n, Law: law.Fixed{}, Queue: fairQueue(), Histograms: true})
}

// farewell is the time that Run waits at its end for connections. A client that
// does not answer a close frame takes 5 s.
const farewell = 15 * time.Second

// Run paces the work until ctx ends. Then it accepts no more connections, completes the
// writes in progress, notifies the clients, and returns nil or the first failure. A server
// runs once.
func (s *Server) Run(ctx context.Context) error {
	defer s.governor.Close()
	machinery, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	parts := []func(context.Context) error{s.governor.Run, s.throttle.Run, s.monitor.Run}
	ended := make(chan error, len(parts))
	for _, run := range parts {
		go func() { ended <- run(machinery) }()
	}
	<-ctx.Done()
	s.mu.Lock()
	s.close()
	s.mu.Unlock()
	var err error
	var connections isolate.Solo
	connections.Start(s.work.Wait)
	if !connections.Wait(farewell) {
		err = fmt.Errorf("relay: connections did not end within %v", farewell)
	}
	s.throttle.Close()
	s.verifier.Close()
	stop()
	for range parts {
		err = errors.Join(err, <-ended)
	}
	return err
}

// begin counts work that Run waits for, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

// Handler serves clients over WebSocket.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := addressOf(r.RemoteAddr)
		if denied := s.admission.enter(address); denied != nil {
			s.counts.refused(admitting)
			denied.answer(w)
			return
		}
		defer s.admission.leave(address)
		s.connect(w, r, false)
	})
}
