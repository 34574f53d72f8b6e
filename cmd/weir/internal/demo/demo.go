// Package demo shows the effect of a limit, and of a bulkhead: identical servers side by side,
// under the same load, with and without it. All of it is real: HTTP over loopback, clients that
// give up, clocks.
package demo

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// patience is after how long clients leave.
const patience = 2 * time.Second

const seed = 20

// queue is the same short queue before each limit.
var queue = weir.Queue{Size: 5, Timeout: 100 * time.Millisecond}

// The allowed durations.
const (
	Shortest = 3 * time.Second
	Longest  = time.Minute
)

// Config says how to run a demonstration.
type Config struct {
	Duration time.Duration // from Shortest to Longest
	Out      io.Writer

	// Look, if set, is called with what the demonstration limits, before the load begins.
	Look func(read func() []weir.Snapshot) error
}

// A demonstration is servers side by side under the same load.
type demonstration struct {
	text    string
	start   time.Time
	routes  []route
	servers []*server
	limited func() []weir.Snapshot

	parts []string                   // of the run, which are counted apart
	part  func(at time.Duration) int // the part of a time

	aside string        // the head of what is beside the figures of a second
	watch func() string // nil without
}

// A route is a kind of request to each of the servers, and its clients.
type route struct {
	name     string // empty for the only one
	pattern  string // in the mux, and the key of its bulkhead
	rate     float64
	takes    time.Duration // at the server, plus or minus a fifth
	deadline time.Duration // an answer is useful until then
	hangs    bool          // in bursts most of its requests hang, and then fail
}

// A server has a handler before its pool, and the clients of each route.
type server struct {
	name    string
	pool    *pool
	handler http.Handler
	http    *http.Server
	loads   []*load
}

// show runs a demonstration. It ends by itself, or early with ctx.
func (d *demonstration) show(ctx context.Context, cfg Config) error {
	defer d.close()
	for _, s := range d.servers {
		if err := d.open(s); err != nil {
			return err
		}
	}
	if cfg.Look != nil {
		if err := cfg.Look(d.limited); err != nil {
			return err
		}
	}
	p := printer{cfg.Out, d}
	p.introduce()
	ran := d.run(ctx, cfg.Duration, func(at time.Duration, gained [][]int) { p.second(at, gained, cfg.Duration) })
	p.compare(ran, cfg.Duration)
	return nil
}

// open starts a server on loopback.
func (d *demonstration) open(s *server) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute}
	for _, r := range d.routes {
		s.loads = append(s.loads, newLoad("http://"+listener.Addr().String(), r, d))
	}
	go func() { _ = s.http.Serve(listener) }() // until close
	return nil
}

func (d *demonstration) close() {
	for _, s := range d.servers {
		s.pool.stop()
		if s.http != nil {
			_ = s.http.Close()
		}
		for _, l := range s.loads {
			l.client.CloseIdleConnections()
		}
	}
}

// run puts all servers under the load, until the last client has its answer or ctx ends. It calls
// each with the timely answers of every second, by route and server, and returns how far the load
// got.
func (d *demonstration) run(ctx context.Context, during time.Duration, each func(at time.Duration, gained [][]int)) time.Duration {
	var driving sync.WaitGroup
	for i, r := range d.routes {
		times := arrivals(uint64(i), r.rate, during)
		for _, s := range d.servers {
			driving.Go(func() { s.loads[i].drive(ctx, d.start, times) })
		}
	}
	answered := make(chan struct{})
	go func() { driving.Wait(); close(answered) }()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	before := d.goodput()
	for {
		select {
		case <-answered:
			return min(time.Since(d.start), during)
		case now := <-second.C:
			after := d.goodput()
			gained := make([][]int, len(after))
			for i := range after {
				for j := range after[i] {
					gained[i] = append(gained[i], after[i][j]-before[i][j])
				}
			}
			each(now.Sub(d.start), gained)
			before = after
		}
	}
}

// goodput returns the number of timely answers so far, by route and server.
func (d *demonstration) goodput() [][]int {
	counts := make([][]int, len(d.routes))
	for i := range d.routes {
		for _, s := range d.servers {
			counts[i] = append(counts[i], s.loads[i].sum(good))
		}
	}
	return counts
}
