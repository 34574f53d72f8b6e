package demo

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// backend is a server with a fixed capacity: a few workers, each busy with one request at a
// time, in order of arrival.
//
// Like most servers it does not notice that a client has given up: it processes every
// accepted request, whether or not the client still waits.
type backend struct {
	workers chan struct{} // full when all are busy; senders wait in order
	mean    time.Duration // service time at full speed
	percent atomic.Int64  // of full speed
	closed  chan struct{}

	mu   sync.Mutex
	rand *rand.Rand
}

func newBackend(workers int, mean time.Duration) *backend {
	b := &backend{
		workers: make(chan struct{}, workers),
		mean:    mean,
		closed:  make(chan struct{}),
		rand:    rand.New(rand.NewPCG(seed, seed)),
	}
	b.percent.Store(100)
	return b
}

// ServeHTTP works on the request once a worker is free.
func (b *backend) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	select {
	case b.workers <- struct{}{}:
		defer func() { <-b.workers }()
	case <-b.closed:
		return
	}
	select {
	case <-time.After(b.serviceTime()):
		w.WriteHeader(http.StatusNoContent)
	case <-b.closed:
	}
}

// serviceTime returns the service time of the next request: the mean plus or minus a fifth,
// at the current speed.
func (b *backend) serviceTime() time.Duration {
	b.mu.Lock()
	spread := 0.8 + 0.4*b.rand.Float64()
	b.mu.Unlock()
	return time.Duration(spread * float64(b.mean) * 100 / float64(b.percent.Load()))
}

// close releases the running and waiting requests.
func (b *backend) close() { close(b.closed) }
