package relay

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Internal serves the operators of the relay, on a listener that the public cannot reach:
//
//	GET /metrics    for Prometheus
//	GET /           WebSocket without a rate, and not counted among the connections; its work goes before the work of the public
//
// Web pages are refused, because a browser on the same machine could reach the listener for them.
func (s *Server) Internal() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.counts.all, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.connect(w, r, true) })
	return http.NewCrossOriginProtection().Handler(mux)
}
