package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// A response becomes a stream if it does not fit into the buffer, or announces that it will not,
// however it is written.
func TestResponsesThatBecomeStreams(t *testing.T) {
	copies := func(n int) step {
		return step{does: func(w http.ResponseWriter, _ *http.Request) string {
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader(strings.Repeat("x", n)))
			return ""
		}}
	}
	for name, c := range map[string]struct {
		steps    []step
		streamed uint64
	}{
		"nothing":          {nil, 0},
		"that fits":        {[]step{writes(100)}, 0},
		"too long":         {[]step{writes(100), writes(1)}, 1},
		"copied":           {[]step{copies(100)}, 0},
		"copied, too long": {[]step{copies(101)}, 1},
		"announced":        {[]step{heads("Content-Length", "100"), writes(1)}, 0},
		"announced longer": {[]step{heads("Content-Length", "101"), writes(1)}, 1},
		"announced wrong":  {[]step{heads("Content-Length", "-1"), writes(1)}, 0},
	} {
		streams := fixed(t, 1)
		cfg := weirhttp.Config{Streams: streams, ResponseBuffer: 100}
		srv := serve(t, configured(t, fixed(t, 1), cfg, func(w http.ResponseWriter, r *http.Request) {
			for _, s := range c.steps {
				s.does(w, r)
			}
		}), http1)
		if res, err := srv.Client().Get(srv.URL); err == nil {
			res.Body.Close()
		}
		<-srv.ended
		if n := streams.Snapshot().Admitted; n != c.streamed {
			t.Errorf("%s: %d streams, want %d", name, n, c.streamed)
		}
	}
}

// A handler that writes more than it announced gets an error, and the bytes before are sent.
func TestHeldResponsesLongerThanAnnounced(t *testing.T) {
	for _, streams := range []weir.Admitter{nil, fixed(t, 1)} { // without them, the server says it
		srv := serve(t, configured(t, fixed(t, 1), weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "hello")
			if n, err := io.WriteString(w, "\n"); n != 0 || !errors.Is(err, http.ErrContentLength) {
				t.Errorf("held %v: wrote %d more, error %v", streams != nil, n, err)
			}
		}), http1)
		res := must.Have(srv.Client().Get(srv.URL))(t)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "hello" || err != nil {
			t.Errorf("held %v: got %q, error %v", streams != nil, body, err)
		}
		<-srv.ended
	}
}

func TestFirstByte(t *testing.T) {
	for name, c := range map[string]struct {
		write func(http.ResponseWriter)
		want  limittest.Taught
	}{
		"written": {func(w http.ResponseWriter) { fmt.Fprint(w, "x") }, limittest.Taught{Succeeded: 1}},
		"flushed": {func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, limittest.Taught{Succeeded: 1}},
		"copied": {func(w http.ResponseWriter) {
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader("x"))
		}, limittest.Taught{Succeeded: 1}},
		"failed":  {func(w http.ResponseWriter) { http.Error(w, "", 500) }, limittest.Taught{Failed: 1}},
		"nothing": {func(http.ResponseWriter) {}, limittest.Taught{Failed: 1}}, // measured at its end, which is a panic
	} {
		t.Run(name, func(t *testing.T) {
			lim := fixed(t, 1)
			srv := serve(t,
				configured(t, lim, weirhttp.Config{FirstByte: true}, func(w http.ResponseWriter, _ *http.Request) {
					c.write(w)
					checkInFlight(t, lim, 1)
					panic(http.ErrAbortHandler)
				}), http1)
			if res, err := srv.Client().Get(srv.URL); err == nil {
				res.Body.Close()
			}
			<-srv.ended
			limittest.Check(t, lim, c.want)
		})
	}
}

// Whatever a handler writes that sees its client leave, be it measured there or when it becomes a
// stream.
func TestFirstByteAfterTheClientLeftTeachesNothing(t *testing.T) {
	for name, cfg := range map[string]weirhttp.Config{
		"first byte": {FirstByte: true},
		"stream":     {Streams: fixed(t, 1)},
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadGateway, http.StatusGatewayTimeout} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				lim := fixed(t, 1)
				ctx, leave := context.WithCancel(t.Context())
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
				configured(t, lim, cfg, func(w http.ResponseWriter, _ *http.Request) {
					leave()
					w.WriteHeader(status)
					_, _ = io.WriteString(w, "gone")
					_ = http.NewResponseController(w).Flush()
				}).ServeHTTP(httptest.NewRecorder(), r)
				limittest.Check(t, lim, limittest.Taught{Ignored: 1})
			})
		}
	}
}

// What a handler has left running ends before the client reads the answer, which may take long.
func TestContextEndsBeforeTheAnswerIsSent(t *testing.T) {
	var ended func() error
	h := configured(t, fixed(t, 1), weirhttp.Config{Streams: fixed(t, 1)}, func(w http.ResponseWriter, r *http.Request) {
		ended = r.Context().Err
		say(w, r)
	})
	client := written(func() {
		if ended() == nil {
			t.Error("the context of the handler lasts")
		}
	})
	h.ServeHTTP(client, httptest.NewRequest(http.MethodGet, "/", nil))
}

// written is called when a body is written.
type written func()

func (w written) Header() http.Header { return http.Header{} }

func (w written) WriteHeader(int) {}

func (w written) Write(p []byte) (int, error) { w(); return len(p), nil }

func TestStatusWithoutABody(t *testing.T) {
	for _, status := range []int{http.StatusSwitchingProtocols, http.StatusNoContent, http.StatusNotModified} {
		h := configured(t, fixed(t, 1), weirhttp.Config{Streams: fixed(t, 1)}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Errorf("status %d: %v", status, err)
			}
		})
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
}

// A request is within the limit though it asks for another protocol, which its handler may ignore.
func TestAskingForAnUpgradeIsNoWayAroundTheLimit(t *testing.T) {
	goesOn, _ := io.Pipe()
	for name, r := range map[string]*http.Request{
		"upgrade": httptest.NewRequest(http.MethodPost, "/", nil),
		"CONNECT": httptest.NewRequest(http.MethodConnect, "/", goesOn),
	} {
		t.Run(name, func(t *testing.T) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "any")
			lim, streams := fixed(t, 1), fixed(t, 1)
			h := configured(t, lim, weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, _ *http.Request) {
				checkInFlight(t, lim, 1)
				checkInFlight(t, streams, 0)
			})
			h.ServeHTTP(httptest.NewRecorder(), r)
			limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
		})
	}
}

// A handler that takes a connection over without having been asked to, and leaves it to others.
func TestHijackOfAHeldResponse(t *testing.T) {
	lim, streams, conns := fixed(t, 1), fixed(t, 1), make(chan net.Conn, 1)
	srv := serve(t, configured(t, lim, weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(w, "late"); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("a write after Hijack: %v", err)
		}
		conns <- conn
	}), http1)
	go func() {
		conn := <-conns
		<-srv.ended
		checkInFlight(t, lim, 0)
		checkInFlight(t, streams, 1)
		if inner, ok := conn.(interface{ NetConn() net.Conn }); !ok || inner.NetConn() == nil {
			t.Errorf("%T does not show the server's connection", conn)
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")
		if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Error(err)
		}
		conn.Close()
	}()
	if _, text := get(t, srv.Client(), srv.URL); text != "ok" {
		t.Errorf("got %q", text)
	}
	limittest.Idle(t, streams)
	limittest.Check(t, streams, limittest.Taught{Ignored: 1})
}

func TestTenantOfARequest(t *testing.T) {
	h := configured(t, fixed(t, 1), weirhttp.Config{Tenant: func(r *http.Request) string {
		return r.URL.Query().Get("tenant")
	}},
		func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, weir.TenantFrom(r.Context())) })
	for target, want := range map[string]string{"/?tenant=a": "a", "/": ""} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Body.String() != want {
			t.Errorf("%s: tenant %q, want %q", target, w.Body, want)
		}
	}
}
