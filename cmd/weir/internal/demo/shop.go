package demo

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/weirhttp"
)

// The shop's two routes share a pool of connections to one backend. Search can never have the
// kept ones.
const (
	connections = 20
	kept        = 5
)

// A route is a kind of request to the shop, and its needs.
type route struct {
	name     string
	pattern  string // in the mux, and the key of its bulkhead
	rate     float64
	takes    time.Duration // holds a connection that long, plus or minus a fifth
	deadline time.Duration // an answer is useful until then
	hangs    bool          // in bursts most of its requests hang, and then fail
}

// search is slow.
var search = route{"search", "GET /search", 40, 150 * time.Millisecond, time.Second, true}

// checkout is fast, and brings the shop its revenue.
var checkout = route{"checkout", "GET /checkout", 60, 20 * time.Millisecond, 250 * time.Millisecond, false}

var routes = [...]*route{&search, &checkout}

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

// fate draws the result of a request that has its connection.
func (r *route) fate(random *rand.Rand, at time.Duration) (takes time.Duration, fails bool) {
	if r.hangs && inBurst(at) == 1 && random.Float64() < burstShare {
		return burstHangs, true
	}
	return around(random, r.takes), false
}

// shop returns a server whose routes wait for a connection, as with database/sql: in order, and
// until the client has left. It is behind the bulkhead if there is one.
func shop(start time.Time, set *bulkhead.Set) (*pool, http.Handler) {
	p, mux := newPool(start, connections, true), http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.pattern, p.serve(r.fate))
	}
	if set == nil {
		return p, mux
	}
	return p, weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))
}

// compartments is the bulkhead: as many slots as connections, some of them reserved for
// checkout. Requests wait briefly in front of the pool.
var compartments = bulkhead.Config{
	Max: connections,
	ByKey: map[string]bulkhead.Compartment{
		search.pattern:   {Config: weir.Config{Queue: queue}},
		checkout.pattern: {Config: weir.Config{Queue: queue}, Reserved: kept},
	},
}

// RunBulkhead shows the effect of a bulkhead on two identical servers side by side, one with
// and one without. Each has a route that hangs and fails in bursts, and one that shares only
// the pool of connections with it. It ends by itself, or early with ctx.
func RunBulkhead(ctx context.Context, cfg Config) error {
	set, err := bulkhead.New(compartments)
	if err != nil {
		return err
	}
	defer set.Close()
	c := contest{start: time.Now()}
	defer c.close()
	for i, r := range routes {
		c.arrivals = append(c.arrivals, arrivals(uint64(i), r.rate, cfg.Duration))
	}
	for _, set := range []*bulkhead.Set{set, nil} {
		p, handler := shop(c.start, set)
		if err := c.enter(p, handler, manners()...); err != nil {
			return err
		}
	}
	if err := cfg.look(dash.Keys(set)); err != nil {
		return err
	}
	out := printer{cfg.Out}
	out.introduceBulkhead(cfg.Duration)
	ran := c.run(ctx, cfg.Duration, func(at time.Duration, gained [][]int) {
		for i, r := range routes {
			out.route(at, r, gained[0][i], gained[1][i])
		}
	})
	out.compareRoutes(c, ran, cfg.Duration)
	return nil
}

// manners is how the clients of the routes behave.
func manners() (list []manner) {
	for _, r := range routes {
		list = append(list, manner{r.path(), r.deadline, patience, 2, inBurst})
	}
	return list
}
