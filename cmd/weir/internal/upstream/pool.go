package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A Pool is the set of an upstream's addresses. It is safe for
// concurrent use.
type Pool struct {
	name      string
	config    config.Upstream
	log       *slog.Logger
	addresses []*address

	stop   context.CancelFunc // nil unless checks run
	checks sync.WaitGroup
}

// New returns a pool. For addresses that the previous pool also has, it takes over their
// records, and their connections unless the connection settings differ. The previous pool
// keeps working, and the new one can still be closed in its place. New opens no connection.
// It fails if a TLS file cannot be used.
func New(name string, c config.Upstream, previous *Pool, log *slog.Logger) (*Pool, error) {
	p := &Pool{name: name, config: c, log: log.With("upstream", name)}
	for i, text := range c.Addresses {
		if err := p.add(text, previous); err != nil {
			p.release()
			return nil, fmt.Errorf("upstreams.%s.addresses[%d]: %w", name, i, err)
		}
	}
	return p, nil
}

// add takes an address over from the previous pool, or creates it.
func (p *Pool) add(text string, previous *Pool) error {
	a, err := parseAddress(text)
	if err != nil {
		return err
	}
	if old := previous.find(a); old != nil {
		a.record = old.record
		if old.suit(p.config) {
			a.connections = old.connections
		}
	} else {
		a.record = new(record)
	}
	if a.connections == nil {
		if a.connections, err = newConnections(a, p.config, p.log.With("address", text)); err != nil {
			return err
		}
	}
	a.pools.Add(1)
	p.addresses = append(p.addresses, a)
	return nil
}

// find returns the pool's address of the same server, or nil.
func (p *Pool) find(same *address) *address {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.addresses, func(a *address) bool {
		return a.scheme == same.scheme && a.host == same.host && a.socket == same.socket && a.raw == same.raw
	})
	if i < 0 {
		return nil
	}
	return p.addresses[i]
}

// isChecked reports whether the addresses are checked.
func (p *Pool) isChecked() bool { return p.config.Health.Path != "" }

// Start begins the checks. Call it once. If the pool replaces another pool, close the other pool
// afterwards: the new pool keeps its schedule of checks.
func (p *Pool) Start() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	for _, a := range p.addresses {
		if !p.isChecked() {
			a.forgetHealth()
			continue
		}
		p.checks.Go(func() { p.checkUntil(ctx, a) })
	}
}

// Close ends the checks and closes idle connections that no other pool uses. Call it once,
// even if the pool was not started. Current and later requests are still sent; their
// connections are then closed.
func (p *Pool) Close() {
	if p.stop != nil {
		p.stop()
	}
	p.checks.Wait()
	p.release()
}

func (p *Pool) release() {
	for _, a := range p.addresses {
		a.release()
	}
}
