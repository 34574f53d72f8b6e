package weirhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// say answers with the body of the request, and the rest of its promise.
func say(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprint(w, string(body), r.Header.Get("Expect"), err)
}

func TestBodiesAreReadAhead(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1": false, "HTTP/2": true} {
		for size, ahead := range map[int]bool{0: true, 1: true, 100: true, 101: false} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					lim, streams := fixed(t, 1), fixed(t, 1)
					p := servePipes(t, configured(t, lim, weirhttp.Config{Streams: streams, RequestBuffer: 100}, say))
					text := strings.Repeat("x", size)
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/", strings.NewReader(text))
					req.Header.Set("Expect", "100-continue")
					res := must.Have(p.client(t, http2).Do(req))(t)
					defer res.Body.Close()
					got, _ := io.ReadAll(res.Body)
					if want := text + "<nil>"; !strings.HasPrefix(string(got), text) ||
						ahead && size > 0 && string(got) != want {
						t.Errorf("got %q, want %q", got, want)
					}
					synctest.Wait()
					taught := limittest.Taught{Succeeded: 1}
					if !ahead {
						taught = limittest.Taught{Ignored: 1}
					}
					limittest.Check(t, lim, taught)
					if n := streams.Snapshot().Admitted; n != 0 {
						t.Errorf("%d streams", n)
					}
				})
			})
		}
	}
}

// Faults of clients in a body are answered, if the client is there, without a slot.
func TestHostileBodies(t *testing.T) {
	for request, want := range map[string]int{
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx":                                     408, // and no more
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n": 200,
	} {
		synctest.Test(t, func(t *testing.T) {
			lim, streams := fixed(t, 1), fixed(t, 1)
			p := servePipes(t,
				timed(configured(t, lim, weirhttp.Config{Streams: streams},
					func(w http.ResponseWriter, r *http.Request) {
						_, _ = io.Copy(io.Discard, r.Body)
					})))
			conn := p.dial(t)
			go io.WriteString(conn, request)
			if got := answerOn(t, conn).StatusCode; got != want {
				t.Errorf("%.60q: status %d, want %d", request, got, want)
			}
			conn.Close()
			synctest.Wait()
			checkInFlight(t, lim, 0)
			checkInFlight(t, streams, 0)
		})
	}
}

// timed gives clients a second for their bodies.
func timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			panic(err)
		}
		next.ServeHTTP(w, r)
	})
}

// Middleware may put another body there than the length says.
func TestLyingContentLength(t *testing.T) {
	for length, want := range map[int64]string{
		-7: "hello<nil>", 2: "hello<nil>", 5: "hello<nil>", 7: "hello<nil>", 1 << 40: "hello<nil>",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(strings.NewReader("hello")))
		r.ContentLength = length
		w := httptest.NewRecorder()
		streams := fixed(t, 1)
		configured(t, fixed(t, 1), weirhttp.Config{Streams: streams}, say).ServeHTTP(w, r)
		if w.Body.String() != want {
			t.Errorf("length %d: %q, want %q", length, w.Body, want)
		}
		checkInFlight(t, streams, 0)
	}
}

// However a handler ends, its slots come back, and nothing runs on.
func TestHandlersThatDoNotReturn(t *testing.T) {
	for how, end := range map[string]func(){"panic": func() { panic(http.ErrAbortHandler) }, "Goexit": runtime.Goexit} {
		for when, before := range map[string]func(http.ResponseWriter){
			"at once":     func(http.ResponseWriter) {},
			"after Write": func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("x", 50_000)) }, // more than the server buffers
			"after Flush": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
			"over bound":  func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("x", 100_000)) },
			"after Hijack": func(w http.ResponseWriter) {
				conn, _, _ := w.(http.Hijacker).Hijack()
				go io.Copy(io.Discard, conn)
				conn.(interface{ NetConn() net.Conn }).NetConn().Close()
			},
		} {
			t.Run(how+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					lim, streams := fixed(t, 1), fixed(t, 1)
					p := servePipes(t,
						configured(t, lim, weirhttp.Config{Streams: streams},
							func(w http.ResponseWriter, _ *http.Request) {
								before(w)
								end()
							}))
					for range 3 {
						conn := p.dial(t)
						go io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
						got, _ := io.ReadAll(conn)
						if when == "after Write" && len(got) > 0 {
							t.Errorf("a response that was not finished was sent: %.60q", got)
						}
						synctest.Wait()
						checkInFlight(t, lim, 0)
						checkInFlight(t, streams, 0)
					}
					if n := lim.Snapshot().Admitted; n != 3 {
						t.Errorf("%d admitted, want 3", n)
					}
				})
			})
		}
	}
}

// A proxy aborts the connection when it cannot write. The client has its answer all the same.
func TestRefusedStreamOfAHandlerThatAborts(t *testing.T) {
	streams := fixed(t, 1)
	permit, _ := streams.TryAcquire(t.Context())
	defer permit.Release()
	lim := fixed(t, 1)
	srv := serve(t, configured(t, lim, weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 100_000)); err == nil {
			t.Error("wrote what had no slot")
		}
		if context.Cause(r.Context()) == nil {
			t.Error("the handler's context goes on")
		}
		if err := http.NewResponseController(w).Flush(); err == nil {
			t.Error("flushed what had no slot")
		}
		panic(http.ErrAbortHandler)
	}), http1)
	res, text := get(t, srv.Client(), srv.URL)
	if res.StatusCode != 503 || text != "Service Unavailable: limit reached\n" {
		t.Errorf("status %d: %q", res.StatusCode, text)
	}
	<-srv.ended
	limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
}

// The hook's first final header counts, before the work and after it, as with any writer.
func TestHookThatWritesTwoHeaders(t *testing.T) {
	closed := fixed(t, 1)
	closed.Close()
	flushes := func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() }
	for name, gate := range map[string]weir.Admitter{"refused": closed, "refused as a stream": fixed(t, 1)} {
		for first, hook := range map[int]func(http.ResponseWriter){
			429: func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
			503: func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) },
			200: func(w http.ResponseWriter) { _, _ = io.WriteString(w, "busy") },
		} {
			srv := serve(t, configured(t, gate, weirhttp.Config{Streams: closed, OnRefused: func(w http.ResponseWriter, _ *http.Request, _ error) {
				hook(w)
				w.WriteHeader(http.StatusServiceUnavailable)
			}}, flushes), http1)
			if res, _ := get(t, srv.Client(), srv.URL); res.StatusCode != first {
				t.Errorf("%s: status %d, want %d", name, res.StatusCode, first)
			}
		}
	}
}
