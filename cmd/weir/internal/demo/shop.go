package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/weirhttp"
)

// The shop's two routes share a pool of connections to one backend. With the bulkhead, search can
// never have the kept connections.
const (
	connections = 20
	kept        = 5
)

// search is slow, and hangs in bursts.
var search = route{"search", "GET /search", 40, 150 * time.Millisecond, time.Second, true}

// checkout is fast, and brings the shop its revenue.
var checkout = route{"checkout", "GET /checkout", 60, 20 * time.Millisecond, 250 * time.Millisecond, false}

var routes = []route{search, checkout}

// need is the number of connections that the route keeps busy.
func (r route) need() float64 { return r.rate * r.takes.Seconds() }

// Bursts are periodic. Each burst is the second half of a cycle.
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
func (r route) fate(random *rand.Rand, at time.Duration) (takes time.Duration, fails bool) {
	if r.hangs && inBurst(at) == 1 && random.Float64() < burstShare {
		return burstHangs, true
	}
	return around(random, r.takes), false
}

// shop returns a server whose routes wait for a connection, as with database/sql. The requests get
// connections in their order, and wait until their client has left. The bulkhead, if there is one,
// is in front of the routes.
func shop(name string, start time.Time, set *bulkhead.Set) *server {
	p, mux := newPool(start, connections, true), http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.pattern, p.serve(r.fate))
	}
	s := &server{name: name, pool: p, handler: mux}
	if set != nil {
		s.handler = weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))
	}
	return s
}

// compartments configures the bulkhead. It has a slot for each connection, and reserves some slots
// for checkout. Requests wait briefly for a slot.
var compartments = bulkhead.Config{
	Max: connections,
	ByKey: map[string]bulkhead.Compartment{
		search.pattern:   {Config: weir.Config{Queue: queue}},
		checkout.pattern: {Config: weir.Config{Queue: queue}, Reserved: kept},
	},
}

// RunBulkhead shows the effect of a bulkhead on two identical servers, one with a bulkhead and one
// without. Each server has a route that hangs and fails in bursts, and a second route that shares
// only the pool of connections with the first.
func RunBulkhead(ctx context.Context, cfg Config) error {
	set, err := bulkhead.New(compartments)
	if err != nil {
		return err
	}
	defer set.Close()
	d := &demonstration{
		text:    shopText(cfg.Duration),
		start:   time.Now(),
		routes:  routes,
		parts:   []string{"well", "burst"},
		part:    inBurst,
		limited: dash.Keys(set),
	}
	d.servers = []*server{shop("with", d.start, set), shop("without", d.start, nil)}
	return d.show(ctx, cfg)
}

func shopText(during time.Duration) string {
	return fmt.Sprintf(`Two servers on loopback, each with two routes over one pool of %d connections,
for %v:

  search    %.0f requests/s, %v each: %.0f connections. An answer counts within
            %v. Every %v, for %v, %.0f%% of them hang for %v and then fail.
  checkout  %.0f requests/s, %v each: %.1f connections. An answer counts within
            %v.

A client gives up after %v. One server has a bulkhead of %d slots: %d are for
checkout alone, the others for both routes, and each route has a queue of
%d, for %v at most. The other server has none. A request that hangs fails on
both.
`, connections, during,
		search.rate, search.takes, search.need(), search.deadline,
		burstEvery, burstEvery/2, 100*burstShare, burstHangs,
		checkout.rate, checkout.takes, checkout.need(), checkout.deadline,
		patience, connections, kept, queue.Size, queue.Timeout)
}
