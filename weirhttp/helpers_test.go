package weirhttp_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// fixed returns a limiter whose limit stays where it is.
func fixed(t *testing.T, limit int) *weir.Limiter {
	t.Helper()
	return must.Have(weir.New(weir.Config{Name: "test", Min: limit, Max: limit}))(t)
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

// server is a real one that reports every request its handler is through with.
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
