package admin

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/law"
)

// A Proxy is the operators' interface to the proxy. All functions are called concurrently.
type Proxy struct {
	State   func() State
	Config  func() any // as applied, with yaml tags
	Metrics prometheus.Gatherer
	Ready   func() error // the reason if it is not ready

	Refusals *dash.Refusals // of the last requests

	// Law gives a compartment another law; nil restores the configured law.
	Law    func(compartment string, l law.Law) error
	Shadow func(compartment string, on bool) error
}

// New returns the handler for operators on a listener with the given address; it also answers
// platforms. An error names the wrong setting.
func New(p Proxy, settings config.Admin, address net.Addr) (http.Handler, error) {
	access, err := newAccess(settings, address)
	if err != nil {
		return nil, err
	}
	look := http.NewServeMux()
	look.HandleFunc("GET /-/weir/snapshot", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, p.State()) })
	look.HandleFunc("GET /-/weir/config", p.writeConfig)
	look.Handle("GET /metrics", MetricsHandler(p.Metrics))
	if settings.Pprof {
		look.HandleFunc("GET /debug/pprof/", pprof.Index)
		look.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		look.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		look.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		look.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	page, err := p.dashboard(access)
	if err != nil {
		return nil, err
	}
	all := http.NewServeMux()
	all.Handle("/", access.host(access.look(look)))
	all.Handle(dashPath+"/", http.StripPrefix(dashPath, page))
	p.probe(all)
	return handler{all, page}, nil
}

type handler struct {
	http.Handler
	page *dash.Handler
}

// Close ends the streams of the dashboard. The previous configuration has admitted them.
func (h handler) Close() { h.page.Close() }

// MetricsHandler serves metrics in the formats that Prometheus asks for.
func MetricsHandler(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(v) // fails only if the client left
}

func (p Proxy) writeConfig(w http.ResponseWriter, _ *http.Request) {
	text, err := yaml.Marshal(p.Config())
	if err != nil {
		http.Error(w, fmt.Sprintf("the configuration cannot be written: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(text)
}

func (p Proxy) ready(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if err := p.Ready(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Probes returns the handler for platforms: /live succeeds if the process works, /ready if it
// accepts requests. A proxy that sheds load is ready.
func Probes(p Proxy, settings config.Probes) http.Handler {
	mux := http.NewServeMux()
	p.probe(mux)
	if settings.Metrics {
		mux.Handle("GET /metrics", MetricsHandler(p.Metrics))
	}
	return mux
}

func (p Proxy) probe(mux *http.ServeMux) {
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /ready", p.ready)
}
