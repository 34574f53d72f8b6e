package demo

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A contest is servers side by side under the same load.
type contest struct {
	start    time.Time
	entrants []*entrant
	arrivals [][]time.Duration // of requests to each route
}

// An entrant is one of the servers, with the clients of its routes.
type entrant struct {
	pool   *pool
	server *http.Server
	loads  []*load
}

// enter starts a server on loopback.
func (c *contest) enter(p *pool, h http.Handler, routes ...manner) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e := &entrant{pool: p, server: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	for _, m := range routes {
		e.loads = append(e.loads, newLoad("http://"+listener.Addr().String(), m))
	}
	go func() { _ = e.server.Serve(listener) }() // until close
	c.entrants = append(c.entrants, e)
	return nil
}

func (c *contest) close() {
	for _, e := range c.entrants {
		e.pool.stop()
		_ = e.server.Close()
		for _, l := range e.loads {
			l.client.CloseIdleConnections()
		}
	}
}

// run puts all entrants under the load, until the last client has its answer or ctx ends. It
// calls each with the timely answers of every second, by entrant and route, and returns how
// far the load got.
func (c *contest) run(ctx context.Context, during time.Duration, each func(at time.Duration, gained [][]int)) time.Duration {
	var driving sync.WaitGroup
	for _, e := range c.entrants {
		for i, l := range e.loads {
			driving.Go(func() { l.drive(ctx, c.start, c.arrivals[i]) })
		}
	}
	answered := make(chan struct{})
	go func() { driving.Wait(); close(answered) }()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	before := c.goodput()
	for {
		select {
		case <-answered:
			return min(time.Since(c.start), during)
		case now := <-second.C:
			after := c.goodput()
			gained := make([][]int, len(after))
			for i := range after {
				for j := range after[i] {
					gained[i] = append(gained[i], after[i][j]-before[i][j])
				}
			}
			each(now.Sub(c.start), gained)
			before = after
		}
	}
}

// goodput returns the number of timely answers so far, by entrant and route.
func (c *contest) goodput() [][]int {
	counts := make([][]int, len(c.entrants))
	for i, e := range c.entrants {
		for _, l := range e.loads {
			counts[i] = append(counts[i], l.sum(good))
		}
	}
	return counts
}
