package relay

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Internal serves the operators of the relay, on a listener that the public cannot reach:
//
//	GET /metrics    for Prometheus
//	GET /health     200 while the relay is open
//	GET /           WebSocket without a rate, and not counted among the connections; its work goes before that of the public
//
// Web pages are refused, because a browser on the same machine could reach the listener for them.
func (s *Server) Internal() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.counts.all, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.connect(w, r, true) })
	return http.NewCrossOriginProtection().Handler(mux)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if !s.begin() {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.work.Done()
	_, _ = fmt.Fprintln(w, "ok")
}
