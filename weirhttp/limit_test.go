package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

func TestStatusTeaches(t *testing.T) {
	success, failure, nothing := limittest.Taught{Succeeded: 1}, limittest.Taught{Failed: 1}, limittest.Taught{Ignored: 1}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    limittest.Taught
	}{
		"nothing written": {func(http.ResponseWriter, *http.Request) {}, success},
		"written":         {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }, success},
		"written as string": {func(w http.ResponseWriter, _ *http.Request) {
			if n, err := w.(io.StringWriter).WriteString("ok"); n != 2 || err != nil {
				t.Errorf("wrote %d, error %v", n, err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		}, success},
		"503":              {status(503), limittest.Taught{Overloaded: 1}},
		"early hints, 500": {status(103, 500), failure},
		"500, then 200":    {status(500, 200), failure},
		"body, then 500": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "ok")
			w.WriteHeader(http.StatusInternalServerError)
		}, success},
		"flushed, then 500": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusInternalServerError)
		}, success},
		"copied, then 500": {func(w http.ResponseWriter, _ *http.Request) {
			if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("ok")); n != 2 || err != nil {
				t.Errorf("copied %d, error %v", n, err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		}, success},
		"event stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			for _, streams := range []weir.Admitter{nil, fixed(t, 1)} {
				lim := fixed(t, 1)
				srv := serve(t, configured(t, lim, weirhttp.Config{Streams: streams}, c.handler), http1)
				get(t, srv.Client(), srv.URL)
				<-srv.ended
				limittest.Check(t, lim, c.want)
			}
		})
	}
}

func status(codes ...int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, code := range codes {
			w.WriteHeader(code)
		}
	}
}

func TestClientThatLeavesTeachesNothing(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"HTTP/1": http1, "HTTP/2": http2} {
		t.Run(name, func(t *testing.T) {
			lim := fixed(t, 1)
			running := make(chan struct{})
			srv := serve(t, limit(lim, func(w http.ResponseWriter, r *http.Request) {
				close(running)
				<-r.Context().Done()
				w.WriteHeader(http.StatusBadGateway)
			}), start)
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-running
				checkInFlight(t, lim, 1)
				leave()
			}()
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
			if _, err := srv.Client().Do(req); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
			<-srv.ended
			limittest.Check(t, lim, limittest.Taught{Ignored: 1})
		})
	}
}

func TestQueueWaitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Min: 1, Max: 1, Queue: weir.Queue{Size: 1}}))
		h := limit(lim, func(http.ResponseWriter, *http.Request) { time.Sleep(12_300 * time.Microsecond) })
		first, second := httptest.NewRecorder(), httptest.NewRecorder()
		go h.ServeHTTP(first, httptest.NewRequest(http.MethodGet, "/", nil))
		synctest.Wait()
		h.ServeHTTP(second, httptest.NewRequest(http.MethodGet, "/", nil))
		if got := first.Header().Values("Server-Timing"); got != nil {
			t.Errorf("Server-Timing %q of a request that did not wait", got)
		}
		if got := second.Header().Get("Server-Timing"); got != "weir;dur=12.3" {
			t.Errorf("Server-Timing %q, want weir;dur=12.3", got)
		}
	})
}

func TestExempt(t *testing.T) {
	admitterFor := weirhttp.Exempt(weirhttp.One(refusing{&weir.RefusedError{Reason: weir.ReasonQueueFull}}), "/healthz", "/readyz")
	h := weirhttp.Limit(status(200), admitterFor)
	for target, want := range map[string]int{
		"/healthz":        200,
		"/readyz?verbose": 200,
		"/%68ealthz":      200, // as the mux reads it
		"/healthz/":       503,
		"/healthz/db":     503,
		"/x/../healthz":   503,
		"//healthz":       503,
		"/HEALTHZ":        503,
		"/":               503,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://example.com"+target, nil))
		if w.Code != want {
			t.Errorf("GET %s: status %d, want %d", target, w.Code, want)
		}
	}
}

func TestBadSettings(t *testing.T) {
	streams := fixed(t, 1)
	for want, cfg := range map[string]weirhttp.Config{
		"RequestBuffer is -1: want 0 (the default, 65536) or 1 to 1073741824":           {Streams: streams, RequestBuffer: -1},
		"ResponseBuffer is 1073741825: want 0 (the default, 65536) or 1 to 1073741824":  {Streams: streams, ResponseBuffer: 1<<30 + 1},
		"RequestBuffer is 10: want 0, or an admitter in Streams for what does not fit":  {RequestBuffer: 10},
		"ResponseBuffer is 10: want 0, or an admitter in Streams for what does not fit": {Streams: (*weir.Limiter)(nil), ResponseBuffer: 10},
		"Uploads is -0.1: want 0 (the default, 0.25) to 1":                              {Streams: streams, Uploads: -0.1},
		"Uploads is 1.1: want 0 (the default, 0.25) to 1":                               {Streams: streams, Uploads: 1.1},
		"Uploads is NaN: want 0 (the default, 0.25) to 1":                               {Streams: streams, Uploads: math.NaN()},
		"Uploads is 0.5: want 0, or an admitter in Streams":                             {Uploads: 0.5},
	} {
		panics(t, want, func() { weirhttp.New(status(200), weirhttp.One(streams), cfg) })
	}
}

// panics fails the test unless the call panics with an error about a setting that begins with want.
func panics(t *testing.T, want string, call func()) {
	t.Helper()
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, weir.ErrConfig) ||
			!strings.HasPrefix(err.Error(), "weir: invalid configuration: weirhttp: "+want) {
			t.Errorf("a panic with %v, want %q", err, want)
		}
	}()
	call()
}

// TestNilArguments: a nil argument panics where a program is put together, with an error that names
// the argument, of one form.
func TestNilArguments(t *testing.T) {
	one, mux := weirhttp.One(fixed(t, 1)), http.NewServeMux()
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	trusted := func(*http.Request) bool { return true }
	const aSet = "one of bulkhead.New, whose error says why there is none"
	for want, wire := range map[string]func(){
		"next is nil: want a handler":                                   func() { weirhttp.Limit(nil, one) },
		"admitterFor is nil: want a function, such as One(limiter)":     func() { weirhttp.Limit(status(200), nil) },
		"Exempt: admitterFor is nil: want a function":                   func() { weirhttp.Exempt(nil, "/healthz") },
		"One: admitter is nil: want a limiter":                          func() { weirhttp.One(nil) },
		"One: admitter is nil: want a limiter, or":                      func() { weirhttp.One((*weir.Limiter)(nil)) },
		"Transport: admitterFor is nil: want a function":                func() { weirhttp.Transport(nil, nil) },
		"RetryTransport: client is nil: want one of retry.New":          func() { weirhttp.RetryTransport(nil, nil) },
		"Trust: next is nil: want a handler":                            func() { weirhttp.Trust(nil, trusted) },
		"Trust: trusted is nil: want a function, such as Peers.Request": func() { weirhttp.Trust(mux, nil) },
		"ByRoute: mux is nil: want the mux":                             func() { weirhttp.ByRoute(nil, set) },
		"ByRoute: set is nil: want " + aSet:                             func() { weirhttp.ByRoute(mux, nil) },
		"ByKey: set is nil: want " + aSet: func() {
			weirhttp.ByKey(nil, func(*http.Request) string { return "" })
		},
		"ByKey: key is nil: want a function": func() { weirhttp.ByKey(set, nil) },
	} {
		panics(t, want, wire)
	}
}
