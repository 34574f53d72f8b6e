package weirhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/shed"
	"github.com/weir-go/weir/weirhttp"
)

// slowUploads are uploads to a server that buffers 100 bytes, with as much of their bodies as shows
// that they do not fit. The rest does not come.
var slowUploads = map[string]string{
	"known length": "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\nx",
	"chunked": "POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
		strings.Repeat("x", 101) + "\r\n",
}

// However many uploads stall, they hold a part of the limit at most, and it has room for others.
func TestUploadsHoldAPartOfTheLimit(t *testing.T) {
	for name, request := range slowUploads {
		for part, want := range map[float64]int{0: 2, 0.5: 4, 1: 8, 0.01: 1} {
			t.Run(fmt.Sprint(name, part), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					lim, streams := fixed(t, 8), fixed(t, 1000)
					p := servePipes(t, configured(t, lim, weirhttp.Config{
						Streams: streams, RequestBuffer: 100, Uploads: part,
					}, site))
					for range slowClients {
						p.send(t, request)
					}
					synctest.Wait()
					checkInFlight(t, lim, want)
					checkInFlight(t, streams, 0)
					if part == 1 {
						return
					}
					client := p.client(t, false)
					for range 10 {
						if res, _ := get(t, client, "http://x/page"); res.StatusCode != http.StatusOK {
							t.Fatalf("status %d beside them", res.StatusCode)
						}
					}
				})
			})
		}
	}
}

// An upload holds its slot while its handler works, not only until it is admitted, and teaches
// nothing: its client decides how long it takes.
func TestUploadsHoldTheirSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, work := fixed(t, 1), make(chan struct{})
		p := servePipes(t, configured(t, lim, weirhttp.Config{Streams: fixed(t, 10), RequestBuffer: 100},
			func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-work
				w.WriteHeader(http.StatusInternalServerError)
			}))
		status := make(chan int)
		go func() {
			defer close(status)
			body := io.MultiReader(strings.NewReader(strings.Repeat("x", 1000))) // of unknown length
			res, err := p.client(t, false).Post("http://x/upload", "", body)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			status <- res.StatusCode
		}()
		synctest.Wait()
		checkInFlight(t, lim, 1)
		if res, _ := get(t, p.client(t, false), "http://x/"); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d beside an upload that has the only slot", res.StatusCode)
		}
		close(work)
		if got := <-status; got != http.StatusInternalServerError {
			t.Errorf("status %d, want 500", got)
		}
		synctest.Wait()
		limittest.Check(t, lim, limittest.Taught{Ignored: 1})
	})
}

// Whatever becomes of an upload, its part of the limit is free for the next.
func TestUploadsGiveTheirPartBack(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"read":          func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"not read":      func(http.ResponseWriter, *http.Request) {},
		"panics":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"long response": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 200_000)) },
		"taken over": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			lim, streams := fixed(t, 2), fixed(t, 1)
			var ran int
			srv := serve(t, configured(t, lim, weirhttp.Config{Streams: streams, RequestBuffer: 100},
				func(w http.ResponseWriter, r *http.Request) { ran++; handle(w, r) }), http1)
			for range 3 {
				res, err := srv.Client().Post(srv.URL, "", strings.NewReader(strings.Repeat("x", 1000)))
				if err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				<-srv.ended
			}
			if ran != 3 {
				t.Errorf("%d of 3 uploads ran", ran)
			}
			checkInFlight(t, lim, 0)
			checkInFlight(t, streams, 0)
		})
	}
}

// Each admitter has a part of its own, by its own limit. One whose limit is not known lets one
// upload in at a time, also if it is another admitter for each request.
func TestEachGateHasItsUploads(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{
		Max:   100,
		ByKey: map[string]bulkhead.Compartment{"a": {Config: weir.Config{Min: 8, Max: 8}}, "b": {Config: weir.Config{Min: 20, Max: 20}}},
	}))(t)
	defer set.Close()
	monitor := must.Have(load.New(load.Config{Sources: []load.Source{&load.CPU{}}}))(t)
	shedder := must.Have(shed.New(monitor, shed.Config{}))(t)
	limiter, hidden := fixed(t, 12), fixed(t, 100)
	admitters := map[string]func(r *http.Request) weir.Admitter{
		"/key":  weirhttp.ByKey(set, func(r *http.Request) string { return r.URL.Query().Get("key") }),
		"/shed": func(*http.Request) weir.Admitter { return shedder.Admitter(limiter) },
		"/own":  func(*http.Request) weir.Admitter { return admitterFunc(hidden.Acquire) },
	}
	h := weirhttp.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		func(r *http.Request) weir.Admitter { return admitters[r.URL.Path](r) },
		weirhttp.Config{Streams: fixed(t, 1), RequestBuffer: 1})
	for path, want := range map[string]int{"/key?key=a": 2, "/key?key=b": 5, "/shed": 3, "/own": 1} {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			running := 0
			for range slowClients {
				over := make(chan struct{})
				go func() {
					defer close(over)
					h.ServeHTTP(httptest.NewRecorder(),
						httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader("long")))
				}()
				synctest.Wait()
				select {
				case <-over:
				default:
					running++
				}
			}
			leave()
			if running != want {
				t.Errorf("%s: %d uploads run, want %d", path, running, want)
			}
		})
	}
}

type admitterFunc func(context.Context) (weir.Permit, error)

func (g admitterFunc) Acquire(ctx context.Context) (weir.Permit, error) { return g(ctx) }

// Trailers reach the handler when it has read the body, whether they were announced or not, and
// however much of the body was read ahead.
func TestTrailersOfBodiesReadAhead(t *testing.T) {
	for _, size := range []int{1, 100, 101, 5000} {
		for _, announced := range []string{"", "Trailer: X-Sum\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				p := servePipes(t, configured(t, fixed(t, 1), weirhttp.Config{Streams: fixed(t, 1), RequestBuffer: 100},
					func(w http.ResponseWriter, r *http.Request) {
						body, err := io.ReadAll(r.Body)
						w.Header().Set("Got", fmt.Sprint(len(body), err, r.Trailer.Get("X-Sum"), r.ContentLength))
					}))
				conn := p.dial(t)
				go fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n%s\r\n%x\r\n%s\r\n"+
					"0\r\nX-Sum: 42\r\n\r\n", announced, size, strings.Repeat("x", size))
				if got, want := answerOn(t, conn).Header.Get("Got"), fmt.Sprint(size, error(nil), "42", -1); got != want {
					t.Errorf("%d bytes, %q: %s, want %s", size, announced, got, want)
				}
			})
		}
	}
}

// A request of HTTP/2 is a conversation by its content, and any other has a Limit of its own with
// the streams as its admitter.
func TestConversations(t *testing.T) {
	for path, content := range map[string]string{
		"/own": "text/plain", "/grpc": "application/grpc", "/connect": "application/connect+json",
	} {
		for _, http2 := range []bool{false, true} {
			if !http2 && path != "/own" {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				lim, streams := fixed(t, 1), fixed(t, 1)
				mux := http.NewServeMux()
				mux.Handle("/own", weirhttp.Limit(http.HandlerFunc(echoWords), weirhttp.One(streams)))
				mux.Handle("/", configured(t, lim, weirhttp.Config{Streams: streams}, echoWords))
				p := servePipes(t, mux)
				body, say := io.Pipe()
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x"+path, body)
				req.Header.Set("Content-Type", content)
				go func() { _, _ = io.WriteString(say, "hello") }()
				res := must.Have(p.client(t, http2).Do(req))(t)
				word := make([]byte, 5)
				if _, err := io.ReadFull(res.Body, word); err != nil || string(word) != "hello" {
					t.Errorf("%s: %q, %v", path, word, err)
				}
				checkInFlight(t, lim, 0)
				checkInFlight(t, streams, 1)
				say.Close()
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				synctest.Wait()
				checkInFlight(t, streams, 0)
			})
		}
	}
}

// echoWords answers each word before the next one comes.
func echoWords(w http.ResponseWriter, r *http.Request) {
	both := http.NewResponseController(w)
	_ = both.EnableFullDuplex() // which HTTP/2 is anyway
	for word := make([]byte, 5); ; {
		if _, err := io.ReadFull(r.Body, word); err != nil {
			return
		}
		_, _ = w.Write(word)
		_ = both.Flush()
	}
}
