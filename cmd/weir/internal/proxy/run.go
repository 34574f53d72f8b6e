package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrCut is returned by [Proxy.Run] if requests were still running at the end of their grace.
var ErrCut = errors.New("requests were still running")

// errListener ends a proxy that should still serve.
var errListener = errors.New("a listener was closed")

// Run serves until ctx ends, and then stops as the package's documentation says. A proxy can
// run only once.
func (p *Proxy) Run(ctx context.Context) error {
	defer p.close()
	failed := make(chan error, len(p.listeners)+len(p.operators))
	for _, l := range p.listeners {
		go func() { failed <- l.Serve() }()
	}
	for _, o := range p.operators {
		go func() { failed <- o.Serve() }()
	}
	beside, stop := context.WithCancel(context.Background())
	var rest sync.WaitGroup
	defer rest.Wait() // includes the spans of the last requests, and the last save of the limits
	defer stop()
	rest.Go(func() { p.tracer.Run(beside) })
	if file := p.table.Load().config.State; file != "" {
		rest.Go(func() { p.keepState(beside, file) })
	}
	select {
	case err := <-failed:
		return cmp.Or(err, errListener)
	case <-ctx.Done():
	}
	return p.drain()
}

// drain first lets balancers notice that the proxy is not ready. Then it stops accepting requests
// and finishes the accepted requests. The operators' addresses keep reporting.
func (p *Proxy) drain() error {
	settings := p.table.Load().config.Shutdown
	p.stopping.Store(true)
	if settings.Wait > 0 {
		p.log.Info("not ready any more, still serving", "wait", time.Duration(settings.Wait))
		time.Sleep(time.Duration(settings.Wait))
	}
	p.shared.Drain()
	grace := time.Duration(settings.Grace)
	p.log.Info("stopping: no more connections", "running", p.running(), "grace", grace)
	if p.finish(grace) == nil {
		return nil
	}
	p.cut()
	_ = p.finish(lastWords)
	return fmt.Errorf("%w after shutdown.grace, which is %v, and have been cut", ErrCut, grace)
}

// lastWords is how long requests that are cut have for their answers, their lines in the log and
// their spans.
const lastWords = time.Second

// finish accepts no more connections, and waits for the accepted requests and for WebSockets. It
// returns an error if they take longer.
func (p *Proxy) finish(within time.Duration) (unfinished error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ended := make(chan error, len(p.listeners))
	for _, l := range p.listeners {
		go func() { ended <- l.Shutdown(ctx) }()
	}
	for range p.listeners {
		unfinished = cmp.Or(unfinished, <-ended)
	}
	return cmp.Or(unfinished, p.shared.EndSockets(ctx))
}

// running is the number of requests with slots, including streams and exempt requests.
func (p *Proxy) running() int {
	n := p.Snapshot().Total.InFlight
	for _, lim := range p.shared.Caps() {
		n += lim.Snapshot().InFlight
	}
	return n
}
