// Package demo shows the effect of a limit, and of a bulkhead. It runs identical servers side by
// side under the same load, with and without the limit or the bulkhead. Everything is real: HTTP
// over loopback, clients that give up, clocks.
package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/browser"
)

// patience is the time after which clients leave.
const patience = 2 * time.Second

const seed = 20

// queue configures the short queue in front of each limit.
var queue = weir.Queue{Size: 5, Timeout: 100 * time.Millisecond}

// These durations bound a demonstration.
const (
	Shortest = 3 * time.Second
	Longest  = time.Minute
)

// Config configures a demonstration.
type Config struct {
	Duration time.Duration // from Shortest to Longest
	Out      io.Writer
	Open     bool      // shows the limiters in a browser as well, until ctx ends
	Err      io.Writer // receives the address of the page
}

// A demonstration runs servers side by side under the same load.
type demonstration struct {
	out     io.Writer // of 80 columns, except for the notes beside the figures of a second
	text    string
	start   time.Time
	routes  []route
	servers []*server
	loads   []*load // of each route to each server
	limited func() []weir.Snapshot

	parts []string                   // the parts of the run, which are counted separately
	part  func(at time.Duration) int // the index of the part at a time

	aside string        // the heading of the notes beside the figures of a second
	watch func() string // the notes; nil without notes
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

// A server has a handler in front of its pool.
type server struct {
	name    string
	pool    *pool
	handler http.Handler
	http    *http.Server
}

// show runs a demonstration. If cfg.Open is set, it also shows a dashboard, which stays open until
// ctx ends.
func (d *demonstration) show(ctx context.Context, cfg Config) error {
	if !cfg.Open {
		return d.perform(ctx, cfg)
	}
	page, err := dash.New(dash.Config{Read: d.limited, Public: true})
	if err != nil {
		return err
	}
	address, end, err := browser.Show(ctx, page, cfg.Err)
	if err != nil {
		return err
	}
	defer end()
	if err := d.perform(ctx, cfg); err != nil || ctx.Err() != nil {
		return err
	}
	fmt.Fprintf(cfg.Err, "weir: %s stays open until Ctrl-C\n", address)
	<-ctx.Done()
	return nil
}

// perform runs the load and prints the results of the servers. It ends after the last request, or
// early when ctx ends.
func (d *demonstration) perform(ctx context.Context, cfg Config) error {
	defer d.close()
	if err := d.open(cfg.Duration); err != nil {
		return err
	}
	d.out = cfg.Out
	d.introduce()
	ran := d.run(ctx, cfg.Duration, func(at time.Duration, gained []int) { d.second(at, gained, cfg.Duration) })
	d.compare(ran, cfg.Duration)
	return nil
}

func (d *demonstration) open(during time.Duration) error {
	urls := make([]string, len(d.servers))
	for i, s := range d.servers {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		urls[i] = "http://" + listener.Addr().String()
		s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute}
		go func() { _ = s.http.Serve(listener) }() // until close
	}
	for stream, r := range d.routes {
		times := arrivals(uint64(stream), r.rate, during)
		for i, s := range d.servers {
			d.loads = append(d.loads, newLoad(r, s.name, urls[i], times))
		}
	}
	return nil
}

func (d *demonstration) close() {
	for _, s := range d.servers {
		s.pool.stop()
		if s.http != nil {
			_ = s.http.Close()
		}
	}
	for _, l := range d.loads {
		l.client.CloseIdleConnections()
	}
}

// run puts all servers under the load, until the last client has its answer or ctx ends. Once a
// second it calls each with the number of timely answers of each load. It returns the time that the
// load took, at most during.
func (d *demonstration) run(ctx context.Context, during time.Duration, each func(at time.Duration, gained []int)) time.Duration {
	var driving sync.WaitGroup
	for _, l := range d.loads {
		driving.Go(func() { l.drive(ctx, d.start) })
	}
	answered := make(chan struct{})
	go func() { driving.Wait(); close(answered) }()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-answered:
			return min(time.Since(d.start), during)
		case now := <-second.C:
			var gained []int
			for _, l := range d.loads {
				gained = append(gained, l.gained())
			}
			each(now.Sub(d.start), gained)
		}
	}
}
