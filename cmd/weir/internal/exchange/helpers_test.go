package exchange

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A rig is a route between two real servers.
type rig struct {
	t        *testing.T
	lim      *weir.Limiter
	shared   *Shared
	front    *httptest.Server
	upstream *httptest.Server
	pool     *upstream.Pool                    // of the upstream
	gone     atomic.Int64                      // clients that the server knows have left, or that it has answered
	end      context.CancelFunc                // ends the proxy
	wrap     func(*http.Request) io.ReadCloser // replaces the body of a request, if not nil
	allowed  time.Duration                     // the time that clients name, if not 0

	mu     sync.Mutex
	faults []error
}

// poolOf returns a pool of one address, with the defaults of the file.
func poolOf(tb testing.TB, url string, http2 bool) *upstream.Pool {
	tb.Helper()
	c := config.New[config.Upstream]()
	c.Addresses = []string{url}
	if http2 {
		c.Protocol = "http2"
	}
	pool := must.Have(upstream.New("api", c, nil, slog.New(slog.DiscardHandler)))(tb)
	tb.Cleanup(pool.Close)
	return pool
}

// settings returns the defaults that matter here, and a limit of 10.
func settings() (config.Config, config.Route) {
	return config.Config{
		Streams: config.Streams{Max: 1000, WebSockets: 1000, Events: 1000, Uploads: 0.25, After: config.Duration(time.Second)},
		Buffers: config.Buffers{Request: 64 << 10, File: 1 << 20, Response: 64 << 10, Memory: 64 << 20, Store: 64 << 20},
		Exempt:  config.Exempt{Max: 10},
	}, config.Route{Timeout: config.Duration(time.Minute), Leaves: "finish"}
}

// newRig creates a rig. change may be nil or change the settings. Both servers speak HTTP/1
// and h2c; the proxy speaks the given protocol to the upstream.
func newRig(t *testing.T, limit int, h2c bool, upstream http.HandlerFunc, change func(*config.Config, *config.Route)) *rig {
	t.Helper()
	c, rc := settings()
	c.Buffers.Directory = t.TempDir()
	if change != nil {
		change(&c, &rc)
	}
	rg := &rig{t: t, lim: limittest.Fixed(t, limit, weir.Queue{Size: 1000, Timeout: 30 * time.Second})}
	ctx, end := context.WithCancel(context.Background())
	rg.end = end
	rg.shared = must.Have(New(ctx, &c, func(_ string, err error) {
		rg.mu.Lock()
		defer rg.mu.Unlock()
		rg.faults = append(rg.faults, err)
	}))(t)
	rg.shared.pause = 20 * time.Second
	rg.upstream = tcptest.ServeHTTP(t, upstream)
	rg.pool = poolOf(t, rg.upstream.URL, h2c)
	rt := rg.shared.Route(rg.lim, rg.pool, rc)
	rg.front = tcptest.ServeHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { rg.gone.Add(1) })
		if rg.wrap != nil {
			r.Body = rg.wrap(r)
		}
		w.Header()[client.RequestIDHeader] = []string{"of the proxy"}
		ctx, cancel := r.Context(), context.CancelFunc(func() {})
		if rg.allowed > 0 {
			ctx, cancel = context.WithTimeout(ctx, rg.allowed)
		}
		defer cancel()
		rt.Serve(ctx, w, r, client.Identify(r, nil, nil))
	}))
	t.Cleanup(func() {
		end()
		rg.idle()
	})
	return rg
}

// client speaks one protocol.
func (rg *rig) client(h2c bool) *http.Client {
	transport := tcptest.Transport(rg.t, h2c)
	transport.MaxIdleConnsPerHost, transport.DisableCompression = 1000, true
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func (rg *rig) get(path string) (status int, body string, err error) {
	return read(rg.client(false).Get(rg.front.URL + path))
}

func read(res *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// dial sends text on a new connection.
func (rg *rig) dial(text string) (net.Conn, *bufio.Reader) {
	rg.t.Helper()
	conn := must.Have(net.Dial("tcp", rg.front.Listener.Addr().String()))(rg.t)
	rg.t.Cleanup(func() { conn.Close() })
	must.Do(rg.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	must.Have(io.WriteString(conn, text))(rg.t)
	return conn, bufio.NewReader(conn)
}

// answer reads a response with the status.
func (rg *rig) answer(from *bufio.Reader, status int) *http.Response {
	rg.t.Helper()
	res, err := http.ReadResponse(from, nil)
	if err != nil || res.StatusCode != status {
		rg.t.Fatalf("%v, %v: want status %d", res, err, status)
	}
	return res
}

// bodyOf returns the body of a request, whose length is known or not.
func bodyOf(text string, known bool) io.Reader {
	if known {
		return strings.NewReader(text)
	}
	return io.MultiReader(strings.NewReader(text))
}

// idle waits until every request has ended, and checks that everything was released.
func (rg *rig) idle() {
	rg.t.Helper()
	rg.until("all requests are over", func() bool { c := rg.shared.Counts(); return c.Received == c.Ended() })
	c := rg.shared.Counts()
	if c.Memory != 0 || c.Files != 0 || c.Stored != 0 {
		rg.t.Errorf("%d bytes and %d files of %d bytes are still taken", c.Memory, c.Files, c.Stored)
	}
	rg.until("all bodies of responses are closed", func() bool { return rg.pool.Snapshot()[0].InFlight == 0 })
	for _, lim := range append(rg.shared.Caps(), rg.lim) {
		// A timeout may be about to release its slot.
		rg.until("nothing is in flight", func() bool { return lim.Snapshot().InFlight == 0 })
	}
}

func (rg *rig) until(what string, done func() bool) {
	rg.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(deadline) {
			rg.t.Fatalf("never: %s; %+v; limit: %d in flight, streams: %d", what, rg.shared.Counts(), rg.inFlight(), rg.shared.streams.Snapshot().InFlight)
		}
		runtime.Gosched()
	}
}

// blamed returns how many failures count against the upstream.
func (rg *rig) blamed() uint64 { return rg.pool.Snapshot()[0].Failures }

func (rg *rig) inFlight() int { return rg.lim.Snapshot().InFlight }

// taught compares the outcomes that the limiter received.
func (rg *rig) taught(want limittest.Taught) {
	rg.t.Helper()
	rg.idle()
	limittest.Check(rg.t, rg.lim, want)
}

// say writes a body of the size in the query, with its length if the query asks for it.
func say(w http.ResponseWriter, r *http.Request) {
	var size int
	fmt.Sscan(r.FormValue("size"), &size)
	if r.FormValue("length") != "" {
		w.Header().Set("Content-Length", fmt.Sprint(size))
	} else {
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, strings.Repeat("x", size))
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Got-Length", fmt.Sprint(r.ContentLength))
	w.Header().Set("Got-Trailer", r.Trailer.Get("After"))
	w.Header().Set("Got-Expect", r.Header.Get("Expect"))
	w.Write(body)
}
