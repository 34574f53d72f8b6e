package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// A Proxy serves what its configuration says. Make one with [New].
type Proxy struct {
	log     *slog.Logger
	sparing *slog.Logger // of what clients can cause
	onFault func(error)
	onEvent func(weir.Event)
	read    func() (*config.Config, error) // nil without a file
	tracer  *spans.Tracer                  // nil if no spans are sent

	set    *bulkhead.Set
	shared *exchange.Shared
	table  atomic.Pointer[table]

	listeners []*listen.Listener
	operators []*operator // of the admin address and that of probes
	cut       context.CancelFunc

	stopping atomic.Bool
	changing sync.Mutex // held while a reload or an operator changes something

	mu             sync.Mutex          // guards what follows
	overrides      map[string]override // by compartment
	lastReload     error
	applied        time.Time
	reloads        uint64
	reloadsRefused uint64
}

// Options are what a proxy needs besides its configuration.
type Options struct {
	Log     *slog.Logger
	OnFault func(error)                    // is told of each failure of an upstream, concurrently
	OnEvent func(weir.Event)               // is told of each decision of a limiter, concurrently, in place of the log
	Read    func() (*config.Config, error) // reads the configuration again; nil if there is none to read
}

// New takes the addresses of a complete configuration. It needs no upstream to be there. The error
// says which setting cannot be had.
func New(c *config.Config, o Options) (*Proxy, error) {
	life, cut := context.WithCancel(context.Background())
	p := &Proxy{
		log: o.Log, sparing: slog.New(observe.Sparing(o.Log.Handler())), onFault: o.OnFault, onEvent: o.OnEvent, read: o.Read,
		cut: cut, applied: time.Now(), overrides: map[string]override{},
	}
	if err := p.open(life, c); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *Proxy) open(life context.Context, c *config.Config) (err error) {
	if p.set, err = bulkhead.New(p.limits(c, nil)); err != nil {
		return err
	}
	if p.shared, err = exchange.New(life, c, p.onFault); err != nil {
		return err
	}
	if p.tracer, err = spans.New(c.Trace, p.log); err != nil {
		return err
	}
	first, err := p.newTable(c, nil)
	if err != nil {
		return err
	}
	p.table.Store(first)
	first.start()
	for i, settings := range c.Listeners {
		listener, err := listen.New(settings, p.handler(i), p.sparing)
		if err != nil {
			return &AddressError{fmt.Sprintf("listeners[%d].address", i), err}
		}
		p.listeners = append(p.listeners, listener)
	}
	return p.openOperators(c)
}

// An AddressError is a listener that cannot be opened.
type AddressError struct {
	Setting string // such as listeners[0].address
	Err     error
}

// Error says which setting, and why.
func (e *AddressError) Error() string { return e.Setting + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *AddressError) Unwrap() error { return e.Err }

// handler serves the requests of a listener.
func (p *Proxy) handler(listener int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.stopping.Load() {
			w.Header().Set("Connection", "close") // HTTP/2 says it by GOAWAY
		}
		p.table.Load().handlers[listener].ServeHTTP(w, r)
	})
}

// hears returns what is told of decisions.
func (p *Proxy) hears(c *config.Config) func(weir.Event) {
	if p.onEvent != nil || !c.Log.Decisions {
		return p.onEvent
	}
	return weir.Log(p.log)
}

// ready returns why the proxy takes no more requests, nil while it does.
func (p *Proxy) ready() error {
	if p.stopping.Load() {
		return errors.New("stopping")
	}
	return nil
}

// close ends everything at once, however far it came.
func (p *Proxy) close() {
	p.cut()
	for _, l := range p.listeners {
		_ = l.Close()
	}
	for _, o := range p.operators {
		_ = o.server.Close()
		_ = o.listener.Close() // a server that never served does not know its listener
	}
	if t := p.table.Load(); t != nil {
		t.drop()
	}
	if p.shared != nil {
		p.shared.Close()
	}
	if p.set != nil {
		p.set.Close()
	}
}
