package client

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/trust"
)

// inside returns the trusted networks of the tests.
func inside(t testing.TB) trust.Peers {
	t.Helper()
	return must.Have(trust.Networks("10.0.0.0/8", "fd00::/8", "127.0.0.0/8"))(t)
}

// from returns a request from a peer.
func from(remote string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://shop.example/", nil)
	r.RemoteAddr = remote
	add(r.Header, header)
	return r
}

// add adds names and values in turn.
func add(h http.Header, header []string) {
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
}

// forwardedBy returns the header for the upstream of a request within its route.
func forwardedBy(t testing.TB, r *http.Request, id *Identity, route config.Route) http.Header {
	t.Helper()
	ctx, cancel := id.Place(r, &route)
	defer cancel()
	h := r.Header.Clone()
	headers.RemoveHopByHop(h)
	id.Forward(ctx, r, h)
	return h
}

// tracer sends the spans of a share of all traces to an address without a collector.
func tracer(share float64) *spans.Tracer {
	return spans.New(config.Trace{Endpoint: "http://127.0.0.1:1/v1/traces", Sample: share}, slog.New(slog.DiscardHandler))
}
