package weirhttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

type hijackFunc func(http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error)

// upgrade takes the connection over in the way of a WebSocket and echoes lines.
func upgrade(hijack hijackFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := hijack(w)
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		rw.Flush()
		for {
			line, err := rw.ReadString('\n')
			if err != nil {
				return
			}
			fmt.Fprint(rw, line)
			rw.Flush()
		}
	}
}

func byAssertion(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return nil, nil, http.ErrNotSupported
	}
	return hijacker.Hijack()
}

func byController(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w).Hijack()
}

func askUpgrade(t *testing.T, url string) *http.Request {
	t.Helper()
	req := must.Have(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	return req
}

// echo checks that an upgraded connection carries a line there and back.
func echo(t *testing.T, res *http.Response) io.Closer {
	t.Helper()
	conn, ok := res.Body.(io.ReadWriteCloser)
	if res.StatusCode != http.StatusSwitchingProtocols || !ok {
		t.Fatalf("status %d with a body of %T, want 101 with an io.ReadWriteCloser", res.StatusCode, res.Body)
	}
	fmt.Fprintln(conn, "hello")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello\n" {
		t.Errorf("echo %q, error %v", line, err)
	}
	return conn
}

// An upgraded connection gives its slot back at once, and takes one of the streams if there are
// any.
func TestUpgrades(t *testing.T) {
	direct := func(h http.Handler) http.Handler { return h }
	unwraps := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(unwrapper{w}, r) })
	}
	for name, c := range map[string]struct {
		hijack  hijackFunc
		around  func(http.Handler) http.Handler
		streams *weir.Limiter
	}{
		"assertion":                 {byAssertion, direct, nil},
		"controller":                {byController, direct, nil},
		"assertion, other wrapper":  {byAssertion, unwraps, nil},
		"controller, other wrapper": {byController, unwraps, nil},
		"assertion, with streams":   {byAssertion, direct, fixed(t, 1)},
		"controller, with streams":  {byController, direct, fixed(t, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			lim := fixed(t, 1)
			srv := serve(t, c.around(configured(t, lim, weirhttp.Config{Streams: c.streams}, upgrade(c.hijack))), http1)
			conn := echo(t, must.Have(srv.Client().Do(askUpgrade(t, srv.URL)))(t))
			limittest.Check(t, lim, limittest.Taught{Ignored: 1}) // and it is still open
			if res, _ := get(t, srv.Client(), srv.URL); res.StatusCode != http.StatusOK {
				t.Errorf("status %d beside an upgraded connection, want 200", res.StatusCode)
			}
			<-srv.ended
			if c.streams != nil {
				checkInFlight(t, c.streams, 1)
				second := must.Have(srv.Client().Do(askUpgrade(t, srv.URL)))(t)
				second.Body.Close()
				<-srv.ended
				if second.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("status %d for a second upgrade, want 503", second.StatusCode)
				}
			}
			conn.Close()
			<-srv.ended
			limittest.Check(t, lim, limittest.Taught{Succeeded: 1, Ignored: 1})
			if c.streams != nil {
				limittest.Check(t, c.streams, limittest.Taught{Ignored: 1})
			}
		})
	}
}

// unwrapper has only the methods of a ResponseWriter, and Unwrap.
type unwrapper struct{ w http.ResponseWriter }

func (u unwrapper) Header() http.Header         { return u.w.Header() }
func (u unwrapper) Write(p []byte) (int, error) { return u.w.Write(p) }
func (u unwrapper) WriteHeader(status int)      { u.w.WriteHeader(status) }
func (u unwrapper) Unwrap() http.ResponseWriter { return u.w }

func TestFailedHijackKeepsTheSlot(t *testing.T) {
	lim := fixed(t, 1)
	h := limit(lim, func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := w.(http.Hijacker).Hijack(); err == nil {
			t.Error("no error")
		}
		checkInFlight(t, lim, 1)
		w.WriteHeader(http.StatusInternalServerError)
	})
	w := struct {
		http.ResponseWriter
		http.Hijacker
	}{httptest.NewRecorder(), brokenHijacker{}}
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	limittest.Check(t, lim, limittest.Taught{Failed: 1})
}

type brokenHijacker struct{}

func (brokenHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, net.ErrClosed
}

func TestFlushReachesTheClient(t *testing.T) {
	lim := fixed(t, 1)
	read := make(chan struct{})
	srv := serve(t, limit(lim, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "one")
		w.(http.Flusher).Flush()
		<-read
		fmt.Fprint(w, "two\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}), http1)
	res := must.Have(srv.Client().Get(srv.URL))(t)
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); line != "one\n" {
		t.Fatalf("read %q, error %v", line, err)
	}
	checkInFlight(t, lim, 1)
	close(read)
	if line, err := lines.ReadString('\n'); line != "two\n" {
		t.Fatalf("read %q, error %v", line, err)
	}
	<-srv.ended
	limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
}

func TestReadFromReachesTheServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("weir ", 100_000)), 0o600))
	lim := fixed(t, 1)
	var used *readerFrom
	h := limit(lim, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		used = &readerFrom{ResponseWriter: w}
		h.ServeHTTP(used, r)
	}), http1)
	res, text := get(t, srv.Client(), srv.URL)
	<-srv.ended
	if res.StatusCode != http.StatusOK || len(text) != 500_000 || used.copied != 500_000 {
		t.Errorf("status %d, %d bytes, of which %d by ReadFrom", res.StatusCode, len(text), used.copied)
	}
	limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
}

type readerFrom struct {
	http.ResponseWriter
	copied int64
}

func (w *readerFrom) ReadFrom(src io.Reader) (int64, error) {
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
	w.copied += n
	return n, err
}

// can are the abilities that a ResponseWriter claims.
type can struct{ flush, hijack bool }

func capabilities(w http.ResponseWriter) (c can) {
	_, c.flush = w.(http.Flusher)
	_, c.hijack = w.(http.Hijacker)
	return c
}

func TestCapabilitiesAreThoseOfTheServer(t *testing.T) {
	type (
		rw = http.ResponseWriter
		f  = http.Flusher
		h  = http.Hijacker
	)
	plain := bare{}
	for _, w := range []rw{
		httptest.NewRecorder(),
		plain,
		struct {
			rw
			f
		}{rw: plain},
		struct {
			rw
			h
		}{rw: plain},
		struct {
			rw
			f
			h
		}{rw: plain},
	} {
		for _, streams := range []weir.Admitter{nil, fixed(t, 1)} {
			var got can
			lim := configured(t, fixed(t, 1), weirhttp.Config{Streams: streams},
				func(w http.ResponseWriter, _ *http.Request) {
					got = capabilities(w)
					if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("x")); n != 1 || err != nil {
						t.Errorf("copied %d, error %v", n, err)
					}
				})
			lim.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if want := capabilities(w); got != want {
				t.Errorf("%T with streams %v: %+v, want %+v", w, streams, got, want)
			}
		}
	}
}

// bare can do no more than it must.
type bare struct{}

func (bare) Header() http.Header         { return http.Header{} }
func (bare) Write(p []byte) (int, error) { return len(p), nil }
func (bare) WriteHeader(int)             {}
