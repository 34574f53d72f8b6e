package upstream

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

func TestHTTP2ByTLS(t *testing.T) {
	a, dir := certstest.New(t), &folder{TB: t, path: t.TempDir()}
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
		c.Protocol, c.TLS.CA, c.TLS.ServerName = test.protocol, dir.write("ca.pem", a.PEM()), "api"
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
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if text, err := ask(p); text != "HTTP/2.0" || err != nil {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	all.Wait()
	if s := p.Snapshot()[0]; s.InFlight != 0 || s.Failures != 0 || s.Requests != n {
		t.Errorf("after all: %+v", s)
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
