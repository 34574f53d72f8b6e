package demo

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// A pool is a server with a fixed number of workers, or of connections to a backend, each busy
// with one request at a time, in order of arrival.
type pool struct {
	slots   chan struct{} // full when all are busy; senders wait in order
	leaves  bool          // a request whose client has left does not wait any longer
	start   time.Time
	stopped chan struct{}

	mu   sync.Mutex
	rand *rand.Rand
}

// newPool returns a pool. Unless leaves is set, the pool processes every accepted request, even if
// its client has left, as most servers do.
func newPool(start time.Time, slots int, leaves bool) *pool {
	return &pool{
		slots:   make(chan struct{}, slots),
		leaves:  leaves,
		start:   start,
		stopped: make(chan struct{}),
		rand:    rand.New(rand.NewPCG(seed, seed)),
	}
}

// A fate draws the service time of a request that begins at a time since the start, and
// whether it fails.
type fate func(r *rand.Rand, at time.Duration) (takes time.Duration, fails bool)

// around draws a time from a fifth below to a fifth above the mean.
func around(r *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration((0.8 + 0.4*r.Float64()) * float64(mean))
}

func (p *pool) draw(f fate) (takes time.Duration, fails bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(p.rand, time.Since(p.start))
}

// serve returns the handler of requests with that fate.
func (p *pool) serve(f fate) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var left <-chan struct{}
		if p.leaves {
			left = req.Context().Done()
		}
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-left:
			return
		case <-p.stopped:
			return
		}
		takes, fails := p.draw(f)
		select {
		case <-time.After(takes): // also if the client has left meanwhile
		case <-p.stopped:
			return
		}
		if fails {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// stop releases the running and waiting requests.
func (p *pool) stop() { close(p.stopped) }
