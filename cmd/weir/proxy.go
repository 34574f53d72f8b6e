package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/figures"
	"github.com/weir-go/weir/weirhttp"
)

// dialTimeout bounds how long a connection to the upstream may take to open.
const dialTimeout = 5 * time.Second

type proxyCommand struct {
	To      upstream `required:"" placeholder:"URL" help:"Server to protect, such as http://127.0.0.1:9000."`
	Listen  string   `default:":8080" placeholder:"ADDRESS" help:"Address to serve on (default ${default})."`
	Admin   string   `default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Address of /-/weir/snapshot and /-/weir/healthz (default ${default}); empty for none."`
	Exempt  []path   `placeholder:"PATH" help:"Path that is never limited, such as a health check. Repeatable; matched exactly."`
	Timeout pause    `default:"0" placeholder:"TIME" help:"How long the upstream may take to answer before the client gets a 504; 0 is any time. Ends streams too, but not WebSockets."`

	limitFlags `group:"The limit:"`

	HeaderTimeout pause `default:"10s" placeholder:"TIME" help:"How long a client may take to send its headers (default ${default})."`
	BodyTimeout   pause `default:"30s" placeholder:"TIME" help:"How long a client may stall while it sends or reads a body (default ${default}). A slow reader stalls while buffers between here and there empty, which may hold megabytes."`
	IdleTimeout   pause `default:"2m" placeholder:"TIME" help:"How long a client's connection may stay idle (default ${default})."`
	Grace         pause `default:"30s" placeholder:"TIME" help:"How long running requests may take to finish on SIGTERM (default ${default})."`
}

// Run serves until ctx ends, then finishes what is in flight.
func (c proxyCommand) Run(ctx context.Context, s streams) error {
	lim, err := weir.New(c.config("proxy"))
	if err != nil {
		return usageError{err}
	}
	defer lim.Close()
	if err := reach(ctx, c.To); err != nil {
		return usageError{err}
	}

	faults := new(faults)
	servers := newServers(time.Duration(c.Grace))
	defer servers.close()
	if err := servers.listen(c.Listen, c.server(lim, faults)); err != nil {
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	if c.Admin != "" {
		if err := servers.listen(c.Admin, &http.Server{
			Handler: adminHandler(lim, ctx), ReadHeaderTimeout: 10 * time.Second,
		}); err != nil {
			return usageError{fmt.Errorf("--admin: %w", err)}
		}
	}
	c.greet(s.out, servers.addresses())

	// Until the last request has been answered, not only until the signal.
	printing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var printer sync.WaitGroup
	printer.Go(func() { printFigures(printing, s, lim, faults) })
	err = servers.serve(ctx)
	stop()
	printer.Wait()
	fmt.Fprintf(s.out, "weir: stopped with %d requests answered\n", lim.Snapshot().Completed)
	return err
}

// server returns the public server: the client's patience, the limit, then the
// upstream.
func (c proxyCommand) server(lim *weir.Limiter, faults *faults) *http.Server {
	var exempt []string
	for _, p := range c.Exempt {
		exempt = append(exempt, string(p))
	}
	forward := newForward(c.To.url, time.Duration(c.Timeout), lim.Snapshot().Max, faults)
	return &http.Server{
		Handler: patience{
			next:  weirhttp.Limit(forward, weirhttp.Exempt(weirhttp.One(lim), exempt...)),
			stall: time.Duration(c.BodyTimeout),
		},
		ReadHeaderTimeout: time.Duration(c.HeaderTimeout),
		IdleTimeout:       time.Duration(c.IdleTimeout),
	}
}

func (c proxyCommand) greet(out io.Writer, addresses []string) {
	fmt.Fprintf(out, "weir: limiting %v on %s\n", c.To, addresses[0])
	if len(addresses) > 1 {
		fmt.Fprintf(out, "weir: state on http://%s/-/weir/snapshot\n", addresses[1])
	}
}

// reach finds out at start whether there is an upstream at all.
func reach(ctx context.Context, to upstream) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", to.address())
	if err != nil {
		return fmt.Errorf("--to: %v cannot be reached: %w", to, err)
	}
	return conn.Close()
}

// headerEvery is how many lines of figures go below one header.
const headerEvery = 20

// printFigures prints a line a second until ctx ends.
func printFigures(ctx context.Context, s streams, lim *weir.Limiter, faults *faults) {
	meter := figures.NewMeter(lim)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for lines := 0; ; lines++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if lines%headerEvery == 0 {
				fmt.Fprintf(s.out, "%-8s %s  last change of the limit\n", "time", figures.Header)
			}
			line := meter.Read()
			fmt.Fprintf(s.out, "%s %v  %s\n", now.Format(time.TimeOnly), line, line.Change)
			if fault := faults.take(); fault != "" {
				fmt.Fprintln(s.err, "weir:", fault)
			}
		}
	}
}
