package weirhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

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
