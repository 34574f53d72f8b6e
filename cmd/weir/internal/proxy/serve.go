package proxy

import (
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
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
	if observed := t.observer.Begin(w, id); observed != nil {
		returned := false
		defer func() { observed.End(r, id, returned) }()
		p.answer(t, observed, r, id)
		returned = true
		return
	}
	p.answer(t, w, r, id)
}

func (p *Proxy) answer(t *table, w http.ResponseWriter, r *http.Request, id *client.Identity) {
	route, found := t.routes.find(w, r, &id.Record)
	if !found {
		return
	}
	ctx, cancel := route.place.Of(r, id)
	defer cancel()
	route.Serve(ctx, w, r, id)
	if no := id.Record.Refused; no != 0 {
		p.refusals.Add(ctx, id.RequestID, &weir.RefusedError{Limiter: id.Record.Compartment, Reason: no})
	}
}
