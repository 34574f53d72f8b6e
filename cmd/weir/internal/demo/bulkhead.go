package demo

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/figures"
)

// kept is the number of connections that search can never have.
const kept = 5

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
	start := time.Now()
	set, err := bulkhead.New(compartments)
	if err != nil {
		return err
	}
	without, err := openSide(start, nil)
	if err != nil {
		return err
	}
	defer without.close()
	with, err := openSide(start, set)
	if err != nil {
		return err
	}
	defer with.close()

	out := printer{cfg.Out, cfg.Color}
	out.introduceBulkhead(cfg.Duration)
	ran := runSides(ctx, start, cfg.Duration, out, with, without)
	out.compareSides(ran, cfg.Duration, with, without)
	return nil
}

// A side is one of the two servers, with the clients of its routes.
type side struct {
	set    *bulkhead.Set // nil for none
	shop   *shop
	server *http.Server
	loads  [len(routes)]*load
}

// openSide starts a server on loopback.
func openSide(start time.Time, set *bulkhead.Set) (*side, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &side{set: set, shop: newShop(start)}
	for i, r := range routes {
		s.loads[i] = newLoad("http://"+listener.Addr().String()+r.path(), manner{r.deadline, patience, 2, inBurst})
	}
	s.server = &http.Server{Handler: s.shop.handler(set), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }() // until close
	return s, nil
}

func (s *side) close() {
	s.shop.close()
	_ = s.server.Close()
	for _, l := range s.loads {
		l.client.CloseIdleConnections()
	}
	if s.set != nil {
		s.set.Close()
	}
}

// goodput returns the number of timely answers so far, by route.
func (s *side) goodput() (counts [len(routes)]int) {
	for i, l := range s.loads {
		counts[i] = l.sum(good)
	}
	return counts
}

// runSides puts both under the same load and prints a line a second for each route, until the
// last client has its answer or ctx ends. It returns how far the load got.
func runSides(ctx context.Context, start time.Time, during time.Duration, out printer, with, without *side) time.Duration {
	var driving sync.WaitGroup
	for i, r := range routes {
		requests := arrivals(uint64(i), r.rate, during)
		for _, s := range []*side{with, without} {
			driving.Go(func() { s.loads[i].drive(ctx, start, requests) })
		}
	}
	answered := make(chan struct{})
	go func() { driving.Wait(); close(answered) }()

	var meters [len(routes)]*figures.Meter
	for i, r := range routes {
		meters[i] = figures.NewKeyMeter(with.set, r.pattern)
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	beforeWith, beforeWithout := with.goodput(), without.goodput()
	for {
		select {
		case <-answered:
			return min(time.Since(start), during)
		case now := <-second.C:
			at, nowWith, nowWithout := now.Sub(start), with.goodput(), without.goodput()
			for i, r := range routes {
				out.route(at, r, meters[i].Read(), nowWith[i]-beforeWith[i], nowWithout[i]-beforeWithout[i])
			}
			beforeWith, beforeWithout = nowWith, nowWithout
		}
	}
}
