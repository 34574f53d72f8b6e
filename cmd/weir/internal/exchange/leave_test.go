package exchange

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
)

// A worker is an upstream that works on each request until it is released, whether or not the
// client is still there.
type worker struct {
	busy, most atomic.Int64
	release    chan struct{}
	notices    bool // a request ends with its client
}

func (u *worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := u.busy.Add(1)
	defer u.busy.Add(-1)
	for most := u.most.Load(); n > most && !u.most.CompareAndSwap(most, n); most = u.most.Load() {
	}
	if r.URL.Path == "/body" {
		w.(http.Flusher).Flush()
	}
	noticed := r.Context().Done()
	if !u.notices {
		noticed = nil
	}
	select {
	case <-u.release:
	case <-noticed:
	}
	_, _ = w.Write([]byte("done"))
}

func leaving(leaves string) func(*config.Config, *config.Route) {
	return func(c *config.Config, r *config.Route) {
		r.Leaves = leaves
		c.Streams.After = config.Duration(1 << 40)
	}
}

// However many clients leave, the upstream never has more requests than the limit.
func TestClientsThatLeaveDoNotPileUp(t *testing.T) {
	const limit, clients = 3, 60
	for _, path := range []string{"/", "/body"} {
		for _, h2c := range []bool{false, true} {
			up := &worker{release: make(chan struct{})}
			rg := newRig(t, limit, h2c, up.ServeHTTP, leaving("finish"))
			release := sync.OnceFunc(func() { close(up.release) })
			t.Cleanup(release) // also if the test ends here; otherwise its servers would wait for their requests
			client := rg.client(h2c)
			ctx, leave := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					req, _ := http.NewRequestWithContext(ctx, http.MethodGet, rg.front.URL+path, nil)
					_, _, _ = read(client.Do(req))
				})
			}
			rg.until("the limit is reached", func() bool { return up.busy.Load() == limit })
			rg.until("all have come", func() bool { return rg.shared.Counts().Received == clients })
			leave()
			all.Wait()
			rg.until("the queue is empty", func() bool { return rg.shared.Counts().Ended() == clients-limit })
			if n := rg.inFlight(); n != limit {
				t.Errorf("%s: %d slots held while the upstream works, want %d", path, n, limit)
			}
			rg.until("the server knows that the others have left", func() bool { return rg.gone.Load() == clients })
			release()
			rg.taught(limittest.Taught{Late: limit})
			if most := up.most.Load(); most != limit {
				t.Errorf("%s: the upstream had %d requests, want %d", path, most, limit)
			}
			if c := rg.shared.Counts(); c.Left != clients {
				t.Errorf("%s: %+v, want %d that left", path, c, clients)
			}
		}
	}
}

func TestClientThatLeavesCancels(t *testing.T) {
	for _, path := range []string{"/", "/body"} {
		for _, notices := range []bool{false, true} {
			up := &worker{release: make(chan struct{}), notices: notices}
			rg := newRig(t, 1, false, up.ServeHTTP, leaving("cancel"))
			ctx, leave := context.WithCancel(t.Context())
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, rg.front.URL+path, nil)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _, _ = read(rg.client(false).Do(req))
			}()
			rg.until("it is there", func() bool { return up.busy.Load() == 1 })
			leave()
			<-ended
			rg.taught(limittest.Taught{Ignored: 1})
			if notices {
				rg.until("the upstream notices", func() bool { return up.busy.Load() == 0 })
			}
			close(up.release)
			if c := rg.shared.Counts(); c.Left != 1 || len(rg.faults) != 0 {
				t.Errorf("%+v, faults %v", c, rg.faults)
			}
		}
	}
}

// A stream ends with its client even if other requests continue.
func TestStreamEndsWithItsClient(t *testing.T) {
	noticed := make(chan struct{})
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(make([]byte, 50_000)) // ReverseProxy does not flush responses of known length
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(noticed)
	}, nil)
	conn, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	conn.Close()
	<-noticed
	rg.taught(limittest.Taught{Succeeded: 1})
	if c := rg.shared.Counts(); c.Left != 1 || c.Exchanged != 1 {
		t.Errorf("%+v", c)
	}
}

// A client that leaves during a response of unknown length keeps the slot until the response
// becomes a stream.
func TestClientLeavesWhatBecomesAStream(t *testing.T) {
	noticed := make(chan struct{})
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(noticed)
	}, func(c *config.Config, _ *config.Route) { c.Streams.After = config.Duration(50e6) })
	conn, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	conn.Close()
	<-noticed
	rg.idle()
}

// The same for a client that leaves while more of the response arrives, so that the proxy
// notices at once.
func TestClientLeavesWhatGoesOn(t *testing.T) {
	var noticed atomic.Bool
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("more"))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(5 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		noticed.Store(true)
	}, func(c *config.Config, _ *config.Route) { c.Streams.After = config.Duration(500e6) })
	conn, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	conn.Close()
	rg.until("the upstream notices", noticed.Load)
	rg.idle()
}

func TestProxyThatEndsCutsRequests(t *testing.T) {
	up := &worker{release: make(chan struct{})}
	rg := newRig(t, 1, false, up.ServeHTTP, nil)
	answered := make(chan int)
	go func() {
		status, _, _ := rg.get("/")
		answered <- status
	}()
	rg.until("it is there", func() bool { return up.busy.Load() == 1 })
	rg.end()
	if status := <-answered; status != 503 {
		t.Errorf("status %d, want 503", status)
	}
	close(up.release)
	rg.taught(limittest.Taught{Ignored: 1})
}

// The upstream continues a response that cannot be sent to its client any more, so the slot
// is held to the end of the response.
func TestClientLeavesWithinAResponse(t *testing.T) {
	left := make(chan struct{})
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-left
		for range 20 {
			_, _ = w.Write([]byte("more"))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(5 * time.Millisecond): // time for the proxy to see that the client has left
			case <-r.Context().Done():
			}
		}
	}, leaving("finish"))
	conn, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	conn.Close()
	close(left)
	rg.taught(limittest.Taught{Late: 1})
	if c := rg.shared.Counts(); c.Left != 1 {
		t.Errorf("%+v", c)
	}
}

// A proxy that stops does not wait for requests whose clients have left, and answers the
// others.
func TestDrainEndsWhatClientsHaveLeft(t *testing.T) {
	for _, path := range []string{"/", "/body"} {
		up := &worker{release: make(chan struct{})}
		rg := newRig(t, 10, false, up.ServeHTTP, leaving("finish"))
		answered := make(chan string, 1)
		go func() {
			_, body, _ := rg.get(path)
			answered <- body
		}()
		rg.until("the one that stays runs", func() bool { return up.busy.Load() == 1 })
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		request := func() {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, rg.front.URL+path, nil)
			_, _, _ = read(rg.client(false).Do(req))
		}
		all.Go(request)
		all.Go(request)
		rg.until("those that leave run", func() bool { return up.busy.Load() == 3 })
		leave()
		all.Wait()
		rg.shared.Drain()
		rg.until("those that left are over", func() bool { return rg.shared.Counts().Left == 2 && rg.inFlight() == 1 })

		ctx, leave = context.WithCancel(t.Context())
		all.Go(request)
		rg.until("another runs", func() bool { return rg.inFlight() == 2 })
		leave()
		all.Wait()
		rg.until("it is over", func() bool { return rg.shared.Counts().Left == 3 && rg.inFlight() == 1 })
		close(up.release)
		if body := <-answered; body != "done" {
			t.Errorf("%s: the one that stayed got %q", path, body)
		}
	}
}
