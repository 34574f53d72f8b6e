package demo

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirhttp"
)

// The shop's two routes share a pool of connections to one backend.
const connections = 20

// A route is a kind of request to the shop, and its needs.
type route struct {
	name     string
	pattern  string // in the mux, and the key of its bulkhead
	rate     float64
	takes    time.Duration // holds a connection that long, plus or minus a fifth
	deadline time.Duration // an answer is useful until then
}

// search is slow. In a burst most of its requests hang, and then fail.
var search = route{name: "search", pattern: "GET /search", rate: 40, takes: 150 * time.Millisecond, deadline: time.Second}

// checkout is fast, and brings the shop its revenue.
var checkout = route{name: "checkout", pattern: "GET /checkout", rate: 60, takes: 20 * time.Millisecond, deadline: 250 * time.Millisecond}

var routes = [...]*route{&search, &checkout}

// path is the path that the clients request.
func (r *route) path() string { return strings.TrimPrefix(r.pattern, http.MethodGet+" ") }

// need is the number of connections that the route keeps busy.
func (r *route) need() float64 { return r.rate * r.takes.Seconds() }

// Bursts are periodic. Each is the second half of a cycle.
const (
	burstEvery = 6 * time.Second
	burstHangs = 1500 * time.Millisecond
	burstShare = 0.8 // of the requests to search during a burst
)

// inBurst returns 1 during a burst and 0 otherwise.
func inBurst(at time.Duration) int {
	if at%burstEvery >= burstEvery/2 {
		return 1
	}
	return 0
}

// shop is a server whose routes wait for a connection, as with database/sql: in order, and
// until the client has left.
type shop struct {
	pool   chan struct{} // full when all connections are taken
	start  time.Time
	closed chan struct{}

	mu   sync.Mutex
	rand *rand.Rand
}

func newShop(start time.Time) *shop {
	return &shop{
		pool:   make(chan struct{}, connections),
		start:  start,
		closed: make(chan struct{}),
		rand:   rand.New(rand.NewPCG(seed, seed)),
	}
}

// handler serves the routes, behind the bulkhead if there is one.
func (s *shop) handler(set *bulkhead.Set) http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
	}
	if set == nil {
		return mux
	}
	return weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))
}

func (s *shop) serve(w http.ResponseWriter, req *http.Request, r *route) {
	select {
	case s.pool <- struct{}{}:
		defer func() { <-s.pool }()
	case <-req.Context().Done():
		return
	case <-s.closed:
		return
	}
	takes, fails := s.fate(r)
	select {
	case <-time.After(takes): // also if the client has left meanwhile
	case <-s.closed:
		return
	}
	if fails {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// fate draws the result of a request that has its connection.
func (s *shop) fate(r *route) (takes time.Duration, fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r == &search && inBurst(time.Since(s.start)) == 1 && s.rand.Float64() < burstShare {
		return burstHangs, true
	}
	return time.Duration((0.8 + 0.4*s.rand.Float64()) * float64(r.takes)), false
}

func (s *shop) close() { close(s.closed) }
