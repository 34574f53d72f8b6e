package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/fleet"
)

// A Proxy serves requests as configured. Create one with [New].
type Proxy struct {
	log     *slog.Logger
	lines   *observe.Lines
	sparing *slog.Logger                   // for events that clients can cause
	read    func() (*config.Config, error) // nil without a file
	tracer  *spans.Tracer                  // nil if no spans are sent
	fleet   *membership                    // nil without a fleet

	set    *bulkhead.Set
	shared *exchange.Shared
	table  atomic.Pointer[table]

	listeners []*listen.Listener
	operators []*operator // of the admin address and the address of probes
	lowered   uint64      // the max_connections of all listeners that a warning has named, 0 for none
	cut       context.CancelFunc

	refusals dash.Refusals
	stopping atomic.Bool
	changing sync.Mutex // held while a reload or an operator changes something

	mu             sync.Mutex          // guards the fields below
	overrides      map[string]override // by compartment
	lastReload     error
	applied        time.Time
	reloads        uint64
	reloadsRefused uint64
}

// Options are the values that a proxy needs besides its configuration.
type Options struct {
	Log   *slog.Logger
	Lines *observe.Lines                 // the output of the log, for its figures; may be nil
	Read  func() (*config.Config, error) // reads the configuration again; nil without a file
	Store fleet.Store                    // of the fleet, if there is one; it has to outlive Run
}

// New opens the addresses of a complete configuration. No upstream needs to be up. An error
// names the setting that cannot be applied.
func New(c *config.Config, o Options) (*Proxy, error) {
	life, cut := context.WithCancel(context.Background())
	p := &Proxy{
		log: o.Log, lines: o.Lines, sparing: slog.New(observe.RateLimited(o.Log.Handler())), read: o.Read,
		cut: cut, applied: time.Now(), overrides: map[string]override{},
	}
	if err := p.open(life, c, o.Store); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *Proxy) open(life context.Context, c *config.Config, store fleet.Store) (err error) {
	if p.set, err = bulkhead.New(p.limits(c, nil)); err != nil {
		return err
	}
	if c.State != "" {
		p.restore(c.State)
	}
	if c.Fleet != nil {
		if err := p.join(c.Fleet, store); err != nil {
			return err
		}
	}
	faults := slog.New(observe.RateLimited(p.log.Handler())) // apart, so that no client hides an outage
	onFault := func(what string, err error) { faults.Warn(what, "error", err) }
	if p.shared, err = exchange.New(life, c, onFault); err != nil {
		return err
	}
	p.tracer = spans.New(c.Trace, p.log)
	first, err := p.newTable(c, nil)
	if err != nil {
		return err
	}
	p.table.Store(first)
	first.start()
	if err := p.openOperators(c); err != nil {
		return err
	}
	for i, settings := range p.withinFiles(c.Listeners) {
		listener, err := listen.New(settings, handler{p, i}, p.sparing)
		if err != nil {
			return fmt.Errorf("listeners[%d].address: %w", i, err)
		}
		p.listeners = append(p.listeners, listener)
	}
	return nil
}

// ready returns the reason why the proxy refuses new requests, or nil.
func (p *Proxy) ready() error {
	if p.stopping.Load() {
		return errors.New("stopping")
	}
	return p.fleet.ready()
}

// close ends everything at once, in any state.
func (p *Proxy) close() {
	p.cut()
	for _, l := range p.listeners {
		_ = l.Close()
	}
	for _, o := range p.operators {
		_ = o.Close()
	}
	if t := p.table.Load(); t != nil {
		t.drop()
	}
	if p.shared != nil {
		p.shared.Close()
	}
	if err := p.fleet.leave(); err != nil {
		p.log.Warn("cannot tell the fleet that this proxy stops", "error", err)
	}
	if p.set != nil {
		p.set.Close()
	}
}
