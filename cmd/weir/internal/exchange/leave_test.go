package exchange

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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

// A stream ends with its client, also one that the response becomes once the client has left. A
// response that is no stream continues, because the upstream works on it, and holds the slot to its
// end.
func TestClientsThatLeaveWithinAResponse(t *testing.T) {
	for name, c := range map[string]struct {
		size    string           // of the response, if it is known
		pieces  int              // sent once the client has left; none: the response has no end
		after   time.Duration    // when it becomes a stream
		notices bool             // the upstream
		taught  limittest.Taught // zero: it depends on when the proxy sees that the client has left
	}{
		"a stream":               {size: "100000", notices: true, taught: limittest.Taught{Succeeded: 1}},
		"becomes a stream":       {after: 50 * time.Millisecond, notices: true},
		"goes on, then a stream": {pieces: 1000, after: 500 * time.Millisecond, notices: true},
		"no stream, and goes on": {pieces: 20, after: time.Hour, taught: limittest.Taught{Late: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			left, noticed := make(chan struct{}), make(chan bool, 1)
			rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
				if c.size != "" {
					w.Header().Set("Content-Length", c.size)
				}
				_, _ = w.Write(make([]byte, 50_000)) // ReverseProxy does not flush responses of known length
				w.(http.Flusher).Flush()
				<-left
				for range c.pieces {
					_, _ = w.Write([]byte("more"))
					w.(http.Flusher).Flush()
					select {
					case <-time.After(5 * time.Millisecond): // time for the proxy to see that the client has left
					case <-r.Context().Done():
					}
				}
				if c.pieces == 0 {
					<-r.Context().Done()
				}
				noticed <- r.Context().Err() != nil
			}, func(s *config.Config, _ *config.Route) { s.Streams.After = config.Duration(c.after) })
			conn, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
			rg.answer(answers, http.StatusOK)
			conn.Close()
			close(left)
			if got := <-noticed; got != c.notices {
				t.Errorf("the upstream notices: %v, want %v", got, c.notices)
			}
			rg.idle()
			if c.taught != (limittest.Taught{}) {
				rg.taught(c.taught)
			}
			if n := rg.shared.Counts(); n.Left != 1 {
				t.Errorf("%+v", n)
			}
		})
	}
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

func TestProxyThatEndsReadsNoBodies(t *testing.T) {
	for name, size := range map[string]int{"in memory": 1000, "in a file": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			rg := newRig(t, 1, false, echo, nil)
			_, answers := rg.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size/2)))
			rg.until("its body is read", func() bool { return rg.shared.Counts().Memory > 0 })
			rg.end()
			rg.answer(answers, http.StatusServiceUnavailable)
		})
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
