package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
)

// secret is the token of the tests.
const secret = "0123456789abcdef"

func tokenFile(t *testing.T) string {
	t.Helper()
	return must.Write(t, filepath.Join(t.TempDir(), "token"), secret+"\n")
}

// proxied is a proxy with one compartment, "api".
type proxied struct {
	Proxy
	down error
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	p := new(proxied)
	lim := weir.Must(weir.New(weir.Config{Name: "api", Initial: 7}))
	gatherer := must.Have(Metrics(metrics.Sources{Limiters: []*weir.Limiter{lim}}, figured))(t)
	p.Proxy = Proxy{
		State: func() State {
			return State{Total: lim.Snapshot(), Compartments: map[string]weir.Snapshot{"api": lim.Snapshot()}}
		},
		Config: func() any {
			return &config.Config{Upstreams: map[string]config.Upstream{"api": {Addresses: []string{"http://127.0.0.1:9000"}}}}
		},
		Metrics: gatherer,
		Ready:   func() error { return p.down },
	}
	return p
}

// serve runs a listener with New's handler until the test ends, and returns its address.
func serve(t *testing.T, p Proxy, settings config.Admin, network, address string) net.Addr {
	t.Helper()
	listener := must.Have(net.Listen(network, address))(t)
	h := must.Have(New(p, settings, listener.Addr()))(t)
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	return listener.Addr()
}

// A call is a request to a listener; missing parts are as in curl.
type call struct {
	path, host string
	header     []string
}

func ask(t *testing.T, to net.Addr, c call) (status int, body string, header http.Header) {
	t.Helper()
	r := must.Have(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+c.path, nil))(t)
	r.Host = c.host
	for i := 0; i < len(c.header); i += 2 {
		r.Header.Set(c.header[i], c.header[i+1])
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if tcp, ok := to.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
			to = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}
		}
		return new(net.Dialer).DialContext(ctx, to.Network(), to.String())
	}, DisableKeepAlives: true}
	w := must.Have(transport.RoundTrip(r))(t)
	defer w.Body.Close()
	text := must.Have(io.ReadAll(w.Body))(t)
	return w.StatusCode, string(text), w.Header
}

func probed(t *testing.T, p Proxy, settings config.Probes, path string) int {
	t.Helper()
	w := httptest.NewRecorder()
	Probes(p, settings).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://10.1.2.3"+path, nil))
	return w.Code
}
