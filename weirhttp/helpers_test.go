package weirhttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/weirhttp"
)

// fixed returns a limiter whose limit stays where it is.
func fixed(t *testing.T, limit int) *weir.Limiter {
	t.Helper()
	return limittest.Fixed(t, limit, weir.Queue{})
}

// refusing is an admitter that refuses with the given error.
type refusing struct{ err error }

func (g refusing) Acquire(context.Context) (weir.Permit, error) { return weir.Permit{}, g.err }

func checkInFlight(t *testing.T, lim *weir.Limiter, want int) {
	t.Helper()
	if got := lim.Snapshot().InFlight; got != want {
		t.Errorf("in flight %d, want %d", got, want)
	}
}

// server is an HTTP server on a loopback address that reports each request that its handler ended.
type server struct {
	*httptest.Server
	ended chan struct{}
}

func serve(t *testing.T, h http.Handler, start func(*httptest.Server)) server {
	t.Helper()
	s := server{ended: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { s.ended <- struct{}{} }()
		h.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

func http1(s *httptest.Server) { s.Start() }

func http2(s *httptest.Server) {
	s.EnableHTTP2 = true
	s.StartTLS()
}

// get returns the response with its body read and closed.
func get(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	res := must.Have(client.Get(url))(t)
	defer res.Body.Close()
	text := must.Have(io.ReadAll(res.Body))(t)
	return res, string(text)
}

func limit(lim weir.Admitter, h http.HandlerFunc) http.Handler {
	return weirhttp.Limit(h, weirhttp.One(lim))
}

// pipes has clients of a server that they stop at once by not reading.
type pipes struct{ *tcptest.Pipes }

// servePipes runs a server of HTTP/1 and unencrypted HTTP/2 until the end of the test, which must
// be in a bubble. It returns how to connect.
func servePipes(t *testing.T, h http.Handler) pipes {
	t.Helper()
	p := pipes{tcptest.NewPipes()}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: h, Protocols: &protocols, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(p); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
		time.Sleep(time.Second) // a server waits for half of that before it lets go of a connection that it broke off
		synctest.Wait()
	})
	return p
}

// dial returns a new connection that is closed at the end of the test.
func (p pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	conn := must.Have(p.Dial(context.Background()))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// send opens a connection, and sends a request without ever reading.
func (p pipes) send(t *testing.T, text string) {
	t.Helper()
	must.Have(io.WriteString(p.dial(t), text))(t)
}

// client is one of net/http for a protocol.
func (p pipes) client(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	transport := tcptest.Transport(t, http2)
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return p.dial(t), nil }
	return &http.Client{Transport: transport}
}

// configured is Limit with settings.
func configured(t *testing.T, lim weir.Admitter, cfg weirhttp.Config, h http.HandlerFunc) http.Handler {
	t.Helper()
	return weirhttp.New(h, weirhttp.One(lim), cfg)
}

// answerOn returns the response on a connection, without its body.
func answerOn(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	return must.Have(http.ReadResponse(bufio.NewReader(conn), nil))(t)
}
