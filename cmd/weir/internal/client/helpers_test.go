package client

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/trust"
)

// inside are the trusted networks of the tests.
func inside(t testing.TB) trust.Peers {
	t.Helper()
	peers, err := trust.Networks("10.0.0.0/8", "fd00::/8", "127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	return peers
}

// identified returns the identity that New gives a request.
func identified(t testing.TB, r *http.Request, peers trust.Peers, tracer *spans.Tracer) (id *Identity, answer http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { id = Of(r.Context()) }), peers, tracer).ServeHTTP(w, r)
	return id, w.Header()
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

// forwarder forwards to the upstream as the proxy does.
func forwarder(t testing.TB, upstream string) http.Handler {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			Of(r.In.Context()).Forward(r.In, r.Out)
		},
		ModifyResponse: func(r *http.Response) error { Answered(r.Header); return nil },
	}
}

// upstream is a server that records the headers it receives.
func upstream(t testing.TB) (url string, seen func() http.Header) {
	t.Helper()
	headers := make(chan http.Header, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "of the upstream")
		w.Header().Set("Weir-Refused", "queue full")
		headers <- r.Header
	}))
	t.Cleanup(s.Close)
	return s.URL, func() http.Header { return <-headers }
}

// tracer sends the spans of a share of all traces to an address without a collector.
func tracer(t testing.TB, share float64) *spans.Tracer {
	t.Helper()
	tracer, err := spans.New(config.Trace{Endpoint: "http://127.0.0.1:1/v1/traces", Sample: share}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}
