package dash

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/access"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
)

// Config has the limiters that a dashboard shows, and the requests that may see them.
type Config struct {
	// Read returns the state of all limiters to show: see [Limiters] and [Keys]. It is called by
	// one goroutine at a time. Of snapshots with the same name only the first is shown. If Read,
	// Tables or Tenants panics, the log says so, and the page shows the last state. Required,
	// unless there are Pools.
	Read func() []weir.Snapshot

	// Pools are shown by name as limiters are: the size is the limit, and the backlog is the queue.
	// The default is none.
	Pools map[string]*pool.Pool

	// Tables returns the state of other sources, as Read does: see [Throttles]. At most 64 tables
	// of 64 rows are shown. The default is none.
	Tables func() []Table

	// Tenants returns more limiters, as Read does, whose names are of people or customers: only
	// viewers with the token see them. The default is none.
	Tenants func() []weir.Snapshot

	// Refusals are shown to viewers with the token. The default is none.
	Refusals *Refusals

	// Law gives the limiter of a name another law, or its own law again if l is nil. The name is
	// the one that the page shows: at most 128 bytes of UTF-8, to which longer names are cut. The
	// page offers this change, and a fixed limit by [law.Fixed], to viewers with the token. The
	// default is that a page changes no law.
	Law func(limiter string, l law.Law) error

	// Shadow turns the shadow mode of a limiter on or off, as Law changes its law.
	Shadow func(limiter string, on bool) error

	// Token returns the token that lets someone look, of 16 bytes or more. It is called for each
	// request, so the token can change. Required, unless Public is set.
	Token func() (string, error)

	// Public lets everyone look. Tenants, Refusals, Law and Shadow still take the token.
	Public bool

	// Hosts are the names by which browsers reach the handler, without ports. A loopback
	// address, localhost and the address of the listener need not be here.
	Hosts []string
}

// Limiters returns a function for [Config].Read that reads limiters.
func Limiters(all ...*weir.Limiter) func() []weir.Snapshot {
	return func() []weir.Snapshot {
		snaps := make([]weir.Snapshot, len(all))
		for i, lim := range all {
			snaps[i] = lim.Snapshot()
		}
		return snaps
	}
}

// Keys returns a function for [Config].Read that reads the keys of a set.
func Keys(s *bulkhead.Set) func() []weir.Snapshot {
	return func() (snaps []weir.Snapshot) {
		for key, snap := range s.Snapshot().ByKey {
			snap.Name = key
			snaps = append(snaps, snap)
		}
		return snaps
	}
}

// A Handler serves a dashboard below the path "/". Make one with [New].
type Handler struct {
	hub    *hub
	inside http.Handler
}

// assets has the page and its parts.
//
//go:embed assets
var assets embed.FS

// New returns a dashboard, or an error that matches [weir.ErrConfig] and names the field.
func New(c Config) (*Handler, error) {
	if c.Read == nil && len(c.Pools) == 0 {
		return nil, fmt.Errorf("%w: dash: Read is nil: want what to show, such as dash.Limiters(lim)", weir.ErrConfig)
	}
	for name, shown := range c.Pools {
		if shown == nil {
			return nil, fmt.Errorf("%w: dash: Pools[%q] is nil: want one that pool.New returned", weir.ErrConfig, name)
		}
	}
	if c.Read == nil {
		c.Read = Limiters()
	}
	return serve(newHub(c))
}

func serve(hub *hub) (*Handler, error) {
	c := hub.config
	if c.Token == nil && !c.Public {
		return nil, fmt.Errorf("%w: dash: Token is nil: want a function that returns the token, or Public: true", weir.ErrConfig)
	}
	h := &Handler{hub: hub}
	if c.Token != nil {
		if _, err := h.token(); err != nil {
			return nil, fmt.Errorf("%w: dash: %w", weir.ErrConfig, err)
		}
	}
	parts, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // they are in the binary
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.page)
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { send(w, "login.html", http.StatusOK) })
	mux.HandleFunc("POST /login", h.login)
	mux.HandleFunc("POST /change", h.change)
	mux.HandleFunc("GET /events", h.events)
	for _, name := range []string{"dash.js", "dash.css", "uPlot.iife.min.js", "uPlot.min.css"} {
		mux.Handle("GET /"+name, http.FileServerFS(parts))
	}
	h.inside = http.NewCrossOriginProtection().Handler(mux)
	return h, nil
}

// Close ends all streams of events, for [http.Server.RegisterOnShutdown]: otherwise a server waits
// for them. The pages try again to connect, and are refused.
func (h *Handler) Close() { h.hub.close() }

// policy lets the page load its own parts and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	if !access.Host(r, h.hub.config.Hosts) {
		http.Error(w, fmt.Sprintf("host %q is not served here: want a loopback address, localhost, "+
			"the address of the listener, or a name of Config.Hosts", r.Host), http.StatusMisdirectedRequest)
		return
	}
	h.inside.ServeHTTP(w, r)
}
