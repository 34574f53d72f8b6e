package demo

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

const adaptiveName = "adaptive"

// lane is one of the servers side by side, with its clients.
type lane struct {
	name    string
	lim     *weir.Limiter // nil for no limit
	backend *backend
	server  *http.Server
	load    *load
}

// noLimit admits every request.
func noLimit(c course) (*lane, error) { return newLane("no limit", c, nil) }

// fixedLimit is the limit that a load test on a good day would suggest: at this concurrency
// the server is at its capacity and answers well within the deadline.
func fixedLimit(c course) (*lane, error) {
	lim, err := weir.New(weir.Config{
		Name: "fixed", Law: law.Fixed{}, Initial: goodDay, Queue: queue,
	})
	if err != nil {
		return nil, err
	}
	return newLane(fmt.Sprintf("fixed limit %d", goodDay), c, lim)
}

// adaptiveLimit knows the deadline of answers, and nothing about the server.
func adaptiveLimit(c course) (*lane, error) {
	lim, err := weir.New(weir.Config{
		Name: "adaptive", Law: aim, Queue: queue,
	})
	if err != nil {
		return nil, err
	}
	return newLane(adaptiveName, c, lim)
}

// newLane starts a server on loopback.
func newLane(name string, c course, lim *weir.Limiter) (*lane, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &lane{
		name:    name,
		lim:     lim,
		backend: newBackend(workers, service),
		load:    newLoad("http://"+listener.Addr().String(), manner{deadline, patience, len(phases), c.phase}),
	}
	var handler http.Handler = l.backend
	if lim != nil {
		handler = weirhttp.Limit(handler, weirhttp.One(lim))
	}
	l.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = l.server.Serve(listener) }() // until close
	return l, nil
}

func (l *lane) close() {
	l.backend.close()
	_ = l.server.Close()
	l.load.client.CloseIdleConnections()
	if l.lim != nil {
		l.lim.Close()
	}
}
