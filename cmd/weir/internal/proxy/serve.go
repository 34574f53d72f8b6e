package proxy

import (
	"net/http"

	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
)

// A handler serves the requests of a listener.
type handler struct {
	proxy    *Proxy
	listener int
}

// ServeHTTP identifies the client and passes its request to its route.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := h.proxy
	if p.stopping.Load() {
		w.Header().Set("Connection", "close") // HTTP/2 sends a GOAWAY
	}
	t := p.table.Load()
	id := client.Identify(r, t.trusted[h.listener], p.tracer)
	w.Header()[client.RequestIDHeader] = []string{id.RequestID}
	returned := false // false after a panic that cuts the connection
	if observed := observe.Begin(w, id, t.access, p.tracer); observed != nil {
		w = observed
		defer func() { observed.End(r, id, returned) }()
	}
	if route, found := t.routes.find(w, r, &id.Record); found {
		ctx, cancel := id.Place(r, route.config)
		defer cancel()
		route.Serve(ctx, w, r, id)
		if no := id.Record.Refused; no != nil {
			p.refusals.Add(ctx, id.RequestID, no)
		}
	}
	returned = true
}
