package weirhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

func ExampleLimit() {
	lim := weir.Must(weir.New(weir.Config{Name: "api", Max: 200}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})
	srv := httptest.NewServer(weirhttp.Limit(mux, weirhttp.One(lim)))
	defer srv.Close()

	res, err := http.Get(srv.URL + "/hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	fmt.Printf("%s: %s", res.Status, text)
	// Output: 200 OK: hello
}

// A limiter for some routes, by the pattern that will serve the request. A
// route without a limiter in the map is exempt.
func ExampleLimit_byRoute() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search/{term}", func(http.ResponseWriter, *http.Request) {})
	limiters := map[string]*weir.Limiter{
		"GET /search/{term}": weir.Must(weir.New(weir.Config{Name: "search", Max: 50})),
	}
	h := weirhttp.Limit(mux, func(r *http.Request) weir.Admitter {
		_, pattern := mux.Handler(r)
		return limiters[pattern]
	})

	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/search/weir", nil))
	fmt.Println(limiters["GET /search/{term}"].Snapshot().Admitted)
	// Output: 1
}

// A limit that is a caller's own quota is answered with 429, here as JSON.
func ExampleNew() {
	lim := weir.Must(weir.New(weir.Config{Name: "tenant 7", Max: 1}))
	h := weirhttp.New(http.NotFoundHandler(), weirhttp.One(lim), weirhttp.Config{
		OnRefused: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		},
	})

	permit, _ := lim.TryAcquire(context.Background()) // somebody else has the only slot
	defer permit.Release()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 429 {"error":"weir: limiter \"tenant 7\" refused: limit reached"}
}

func ExampleExempt() {
	lim := weir.Must(weir.New(weir.Config{Max: 1}))
	h := weirhttp.Limit(http.NewServeMux(), weirhttp.Exempt(weirhttp.One(lim), "/healthz"))

	permit, _ := lim.TryAcquire(context.Background()) // the server is full
	defer permit.Release()
	for _, path := range []string{"/healthz", "/other"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code)
	}
	// Output:
	// /healthz 404
	// /other 503
}

func ExampleTransport() {
	downstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	}))
	defer downstream.Close()
	lim := weir.Must(weir.New(weir.Config{Name: "downstream", Max: 1}))
	client := &http.Client{Transport: weirhttp.Transport(nil, weirhttp.One(lim))}

	first, err := client.Get(downstream.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Get(downstream.URL) // the first body is still open
	var refused *weir.RefusedError
	fmt.Println(errors.As(err, &refused), refused.Reason)

	first.Body.Close()
	third, err := client.Get(downstream.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer third.Body.Close()
	fmt.Println(third.Status)
	// Output:
	// true limit reached
	// 200 OK
}

// A proxy answers a refusal as Limit does, and other errors of its backend with 502.
func ExampleRefuse() {
	lim := weir.Must(weir.New(weir.Config{Name: "backend", Max: 1}))
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "backend.internal" },
		Transport: weirhttp.Transport(nil, weirhttp.One(lim)),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(err, weir.ErrRefused) {
				weirhttp.Refuse(w, r, err)
				return
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	permit, _ := lim.TryAcquire(context.Background()) // somebody else has the only slot
	defer permit.Release()
	w := httptest.NewRecorder()
	proxy.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(w.Code, w.Header().Get("Retry-After"), w.Header().Get(weirhttp.RefusedHeader))
	// Output: 503 1 limit reached
}

// A limit for the server's work, and a cap on the clients that keep it waiting.
func ExampleConfig_streams() {
	lim := weir.Must(weir.New(weir.Config{Name: "api", Max: 200}))
	streams := weir.Must(weir.New(weir.Config{Name: "streams", Law: law.Fixed{}, Initial: 1000, Max: 1000}))
	h := weirhttp.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		fmt.Println(lim.Snapshot().InFlight, streams.Snapshot().InFlight)
		_ = http.NewResponseController(w).Flush()
		fmt.Println(lim.Snapshot().InFlight, streams.Snapshot().InFlight)
	}), weirhttp.One(lim), weirhttp.Config{Streams: streams})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	// Output:
	// 1 0
	// 0 1
}

func ExampleRetryTransport() {
	downstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("attempt %q\n", r.Header.Get(weirhttp.AttemptHeader))
		if r.Header.Get(weirhttp.AttemptHeader) == "" {
			w.Header().Set(weirhttp.RefusedHeader, "queue full") // as Limit does: the order did not run
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
	}))
	defer downstream.Close()

	rc, err := retry.New(retry.Config{Name: "orders", Backoff: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: weirhttp.RetryTransport(weirhttp.Propagate(nil), rc)}
	res, err := client.Post(downstream.URL, "text/plain", strings.NewReader("order"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output:
	// attempt ""
	// attempt "2"
	// 200 OK
}

func ExamplePropagate() {
	downstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get(weirhttp.PriorityHeader), r.Header.Get(weirhttp.TimeoutHeader) != "")
	}))
	defer downstream.Close()

	ctx, cancel := context.WithTimeout(weir.WithPriority(context.Background(), weir.PriorityHigh), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, downstream.URL, nil)
	res, err := (&http.Client{Transport: weirhttp.Propagate(nil)}).Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	res.Body.Close()
	// Output: high true
}

// Only clients with a certificate may say how important their requests are.
func ExampleTrust() {
	h := weirhttp.Trust(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(weir.PriorityFrom(r.Context()))
	}), func(r *http.Request) bool {
		return r.TLS != nil && len(r.TLS.VerifiedChains) > 0
	})
	req := httptest.NewRequest(http.MethodGet, "/", nil) // from anybody
	req.Header.Set(weirhttp.PriorityHeader, "critical")
	h.ServeHTTP(httptest.NewRecorder(), req)
	// Output: normal
}
