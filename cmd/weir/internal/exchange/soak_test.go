package exchange

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/together"
)

// Whatever clients and upstreams do, each request ends once, and all resources are released.
func TestEverythingIsGivenBack(t *testing.T) {
	seeds := 1
	if longtest.All() {
		seeds = 6
	}
	for seed := range seeds {
		for _, leaves := range []string{"finish", "cancel"} {
			t.Run(fmt.Sprint(leaves, " ", seed), func(t *testing.T) { storm(t, uint64(seed), leaves) })
		}
	}
}

func storm(t *testing.T, seed uint64, leaves string) {
	const clients, requests = 20, 10
	before := runtime.NumGoroutine()
	rg := newRig(t, 3, seed%2 == 1, erratic, func(c *config.Config, r *config.Route) {
		c.Streams.Max, c.Streams.Events, c.Streams.After = 5, 2, config.Duration(5*time.Millisecond)
		c.Buffers = config.Buffers{Request: 8 << 10, File: 8 << 10, Response: 8 << 10, Memory: 64 << 10, Directory: c.Buffers.Directory}
		r.Timeout, r.Leaves = config.Duration(50*time.Millisecond), leaves
	})
	rg.shared.pause = time.Millisecond

	together.Do(clients, func(i int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		client := rg.client(rnd.IntN(2) == 0)
		for range requests {
			wander(t, client, rg.front.URL, rnd)
		}
		client.CloseIdleConnections()
	})
	rg.front.CloseClientConnections()
	rg.idle() // also compares the requests with their ends
	rg.upstream.CloseClientConnections()
	rg.until("the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+10 })
}

// wander sends a request and may leave at any time.
func wander(t *testing.T, client *http.Client, url string, rnd *rand.Rand) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var body io.Reader
	if rnd.IntN(2) == 0 {
		text := strings.NewReader(strings.Repeat("x", rnd.IntN(30_000)))
		if body = text; rnd.IntN(2) == 0 {
			body = io.MultiReader(text)
		}
	}
	path := fmt.Sprintf("%s/%d?size=%d", url, rnd.IntN(8), rnd.IntN(30_000))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, body)
	if err != nil {
		t.Error(err)
		return
	}
	if rnd.IntN(3) == 0 {
		defer time.AfterFunc(time.Duration(rnd.IntN(10))*time.Millisecond, leave).Stop()
	}
	res, err := client.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, int64(rnd.IntN(40_000)))
}

// erratic is an upstream that fails in a way that depends on the path.
func erratic(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, "/") {
	case "0":
		panic(http.ErrAbortHandler)
	case "1":
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "2":
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	case "3":
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that its client leaves
		<-r.Context().Done()
	case "4":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	case "5":
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, r.Body)
	default:
		_, _ = io.Copy(io.Discard, r.Body)
		say(w, r)
	}
}
