package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

func TestHTTP2ByTLS(t *testing.T) {
	a, dir := certstest.New(t), t.TempDir()
	for _, test := range []struct {
		protocol     string
		server       bool // speaks HTTP/2
		answer, fail string
	}{
		{"http2", true, "none HTTP/2.0 api", ""},
		{"http1", true, "none HTTP/1.1 api", ""},
		{"http1", false, "none HTTP/1.1 api", ""},
		{"http2", false, "", "TLS handshake for h2"},
	} {
		c := defaults(secure(t, a, "api", test.server))
		c.Protocol, c.TLS.CA, c.TLS.ServerName = test.protocol, must.Write(t, dir+"/ca.pem", a.PEM()), "api"
		p, _ := started(t, c)
		if text, err := ask(p); text != test.answer || (err != nil) != (test.fail != "") || err != nil && !strings.Contains(err.Error(), test.fail) {
			t.Errorf("%s, server speaks HTTP/2 %t: got %q, %v", test.protocol, test.server, text, err)
		}
		if s := p.Snapshot()[0]; s.InFlight != 0 || (s.Failures > 0) != (test.fail != "") {
			t.Errorf("%s: %+v", test.protocol, s)
		}
	}
}

// plainHTTP2 starts a server that speaks HTTP/2 without TLS and accepts two concurrent
// requests on a connection.
func plainHTTP2(t testing.TB, handler http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// Requests beyond a connection's limit open another connection, and do not wait.
func TestHTTP2WithoutTLS(t *testing.T) {
	const n = 7
	var here sync.WaitGroup
	here.Add(n)
	c := defaults(plainHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		here.Done()
		here.Wait() // for all others
		io.WriteString(w, r.Proto)
	}))
	c.Protocol = "http2"
	p, _ := started(t, c)
	together.Do(n, func(int) {
		if text, err := ask(p); text != "HTTP/2.0" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
	if s := p.Snapshot()[0]; s.InFlight != 0 || s.Failures != 0 || s.Requests != n {
		t.Errorf("after all: %+v", s)
	}
}

// A server in Go ends the connection of a request with trailers that it answers before it has read
// the body. Other requests must not be on it.
func TestRequestsWithTrailersAreAlone(t *testing.T) {
	c := defaults(plainHTTP2(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) }))
	c.Protocol = "http2"
	p, _ := started(t, c)
	from := func(trailer http.Header) string {
		req := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", io.MultiReader(strings.NewReader("x"))))(t)
		req.Trailer = trailer
		res := must.Have(roundTrip(p, req))(t)
		defer res.Body.Close()
		return string(must.Have(io.ReadAll(res.Body))(t))
	}
	shared := from(nil)
	if alone := from(http.Header{"X-After": {"1"}}); alone == shared {
		t.Error("a request with trailers shares a connection")
	}
	if again := from(nil); again != shared {
		t.Error("a request without trailers shares no connection")
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	l := must.Have(net.Listen("unix", path))(t)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host+r.URL.Path) })}
	go s.Serve(l)
	defer s.Close()
	p, _ := started(t, defaults("unix:"+path))
	if text, err := ask(p); text != "example.com/" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// The proxy waits no longer for a server that accepts connections and then stalls than for
// one that accepts none.
func TestAHandshakeHasTheConnectTimeout(t *testing.T) {
	c := defaults(strings.Replace(serve(t, func(conn net.Conn) { io.Copy(io.Discard, conn) }), "http:", "https:", 1))
	c.ConnectTimeout = config.Duration(100 * time.Millisecond)
	p, _ := started(t, c)
	if _, err := ask(p); err == nil || !strings.Contains(err.Error(), "TLS handshake for http/1.1: context deadline exceeded") {
		t.Errorf("error %v, want a handshake that took too long", err)
	}
	if s := p.Snapshot()[0]; s.Failures != 1 {
		t.Errorf("want one failure: %+v", s)
	}
}

// secure starts a server that answers with the name in its client's certificate and the
// protocol. It closes its connections, so that each request makes a handshake.
func secure(t testing.TB, a *certstest.Authority, name string, http2 bool) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		client := "none"
		if len(r.TLS.PeerCertificates) > 0 {
			client = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		io.WriteString(w, client+" "+r.Proto+" "+r.TLS.ServerName)
	}))
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.Pair(name)}, ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// ask returns the answer of the pool's only server.
func ask(p *Pool) (string, error) {
	res, err := roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// Package certs tests which changes are read.
func TestFilesOfTLSAreReadAgainWhenTheyChange(t *testing.T) {
	right, wrong, dir := certstest.New(t), certstest.New(t), t.TempDir()
	c := defaults(secure(t, right, "api.internal", false))
	cert, key := right.Sign("client")
	c.TLS = config.ClientTLS{
		CA: must.Write(t, dir+"/ca.pem", wrong.PEM()), Certificate: must.Write(t, dir+"/cert.pem", cert), Key: must.Write(t, dir+"/key.pem", key), ServerName: "api.internal",
	}
	p, _ := started(t, c)
	if _, err := ask(p); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Fatalf("error %v, want that the authority is unknown", err)
	}
	must.Write(t, dir+"/ca.pem", right.PEM())
	if text, err := ask(p); text != "client HTTP/1.1 api.internal" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestUnusableFilesOfTLSAreAnError(t *testing.T) {
	dir := t.TempDir()
	cert, _ := certstest.New(t).Sign("x")
	for want, files := range map[string]config.ClientTLS{
		"tls.ca: open ":                          {CA: dir + "/none.pem"},
		"empty.pem has no certificate: want PEM": {CA: must.Write(t, dir+"/empty.pem", "")},
		`tls.key ""`:                             {Certificate: must.Write(t, dir+"/cert.pem", cert)},
	} {
		c := defaults("https://127.0.0.1:1")
		c.TLS = files
		if _, err := New("api", c, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "upstreams.api.addresses[0]: ") {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
}

func TestTheServerIsWhoItsAddressSays(t *testing.T) {
	a, dir := certstest.New(t), t.TempDir()
	c := defaults(strings.Replace(secure(t, a, "localhost", false), "127.0.0.1", "localhost", 1))
	c.TLS.CA = must.Write(t, dir+"/ca.pem", a.PEM())
	p, _ := started(t, c)
	if text, err := ask(p); text != "none HTTP/1.1 localhost" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	c.TLS.ServerName = "other"
	p, _ = started(t, c)
	if _, err := ask(p); !errors.As(err, new(x509.HostnameError)) {
		t.Errorf("error %v, want that it is another host", err)
	}
}

// An unused connection keeps no memory of its last request.
func TestUnusedConnectionKeepsNoRequest(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	p, _ := newPool(t, defaults(server.URL), nil)
	var gone weak.Pointer[http.Request]
	func() {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		gone = weak.Make(req)
		res, done, err := p.Send(t.Context(), req, caller{})
		must.Do(t, err)
		_ = must.Have(io.ReadAll(res.Body))(t)
		_ = res.Body.Close()
		done()
	}()
	for range 100 {
		runtime.GC()
		if gone.Value() == nil {
			return
		}
	}
	t.Error("the request is still in memory")
}
