package weirhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// TestClientsThatLeave has clients leave before they ask, in the queue, at work and in a stream.
// The bubble would not end if a goroutine were left.
func TestClientsThatLeave(t *testing.T) {
	requests := 2_000
	if longtest.All() {
		requests = 100_000
	}
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{
			Initial: 8, Law: law.Fixed{}, Queue: weir.Queue{Size: 8, Timeout: time.Second},
		}))
		streams := weir.Must(weir.New(weir.Config{Initial: 8, Law: law.Fixed{}}))
		h := weirhttp.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				w.WriteHeader(http.StatusOK)
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}), weirhttp.One(lim), weirhttp.Config{Streams: streams})
		const clients = 32
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				for i := client; i < requests; i += clients {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*time.Millisecond)
					path := [...]string{"/", "/stream"}[i/clients%2]
					h.ServeHTTP(httptest.NewRecorder(),
						httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody))
					cancel()
				}
			})
		}
		all.Wait()
		for _, l := range []*weir.Limiter{lim, streams} {
			if s := l.Snapshot(); s.InFlight != 0 || s.Queued != 0 || s.Admitted != s.Completed || s.Admitted == 0 {
				t.Errorf("after %d requests: %v", requests, l)
			}
		}
	})
}
