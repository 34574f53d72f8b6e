package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// servers run together and stop together.
type servers struct {
	grace     time.Duration
	servers   []*http.Server
	listeners []net.Listener

	base func(net.Listener) context.Context // of every request
	cut  context.CancelFunc                 // ends those, once they have had their grace
}

func newServers(grace time.Duration) *servers {
	requests, cut := context.WithCancel(context.Background())
	return &servers{grace: grace, base: func(net.Listener) context.Context { return requests }, cut: cut}
}

// listen takes the address at once, so that one in use is an error at start.
func (s *servers) listen(address string, server *http.Server) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server.BaseContext = s.base
	s.listeners = append(s.listeners, listener)
	s.servers = append(s.servers, server)
	return nil
}

func (s *servers) addresses() []string {
	var all []string
	for _, l := range s.listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

// serve serves until ctx ends, and returns once every request has been answered
// or has had its grace.
func (s *servers) serve(ctx context.Context) error {
	failed := make(chan error, len(s.servers))
	for i, server := range s.servers {
		go func() { failed <- server.Serve(s.listeners[i]) }()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return s.drain()
	}
}

// drain answers what has been accepted. The first server goes first, so that the
// others still tell how it is doing.
func (s *servers) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	for _, server := range s.servers {
		if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("requests were still running after --grace=%v and have been cut", s.grace)
		}
	}
	return nil
}

// close frees the addresses and connections, however far it came. WebSockets end
// here: no server waits for them.
func (s *servers) close() {
	s.cut()
	for i, server := range s.servers {
		_ = server.Close()
		_ = s.listeners[i].Close() // a server that never served does not know its listener
	}
}
