package weirhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// site has a page, one that is too large to be held back, an upload, and a stream of events that
// ends with its client.
func site(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/page":
		fmt.Fprint(w, strings.Repeat("x", 50_000))
	case "/file":
		w.Header().Set("Content-Length", "500000")
		fmt.Fprint(w, strings.Repeat("x", 500_000))
	case "/upload":
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	case "/events":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

const slowClients = 20

// crowd is 20 clients of each kind that sends or reads slowly, one after the other, so that none is
// refused because the others came with it.
func crowd(t *testing.T, p pipes) {
	t.Helper()
	for _, request := range []string{
		"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx",
		"POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
		"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
		"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc\r\nContent-Length: 1000000\r\n\r\nx",
		"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
		"GET /page HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /file HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /events HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		for range slowClients {
			p.send(t, request)
			synctest.Wait()
		}
	}
}

func TestSlowClientsLeaveTheSlotsToOthers(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim, streams := fixed(t, 10), fixed(t, 1000)
				p := servePipes(t, configured(t, lim, weirhttp.Config{Streams: streams}, site))
				crowd(t, p)
				checkInFlight(t, lim, 2) // the part of uploads whose bodies do not fit
				checkInFlight(t, streams, 2*slowClients)
				client := p.client(t, http2)
				for range 100 {
					if res, text := get(t, client, "http://x/page"); res.StatusCode != http.StatusOK ||
						len(text) != 50_000 {
						t.Fatalf("status %d with %d bytes, want 200 with 50000", res.StatusCode, len(text))
					}
				}
			})
		})
	}
}

// net/http looks for the end of a connection once the body of its request was read.
func TestPostOfAClientThatLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := limittest.Fixed(t, 1, weir.Queue{Size: 1})
		defer limittest.Fill(t, lim)()
		conn := servePipes(t, configured(t, lim, weirhttp.Config{Streams: fixed(t, 1)}, site)).dial(t)
		go io.WriteString(conn, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		synctest.Wait()
		if n := lim.Snapshot().Queued; n != 1 {
			t.Fatalf("%d in the queue, want 1", n)
		}
		conn.Close()
		synctest.Wait()
		if s := lim.Snapshot(); s.Queued != 0 || s.Cancelled != 1 {
			t.Errorf("%d in the queue, and %d cancelled; want 0 and 1", s.Queued, s.Cancelled)
		}
	})
}

// A full cap refuses requests without a slot, and nothing else.
func TestStreamsAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, streams := fixed(t, 10), fixed(t, 2)
		p := servePipes(t,
			configured(t, lim, weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Etag", `"1"`)
				w.Header().Set("Content-Length", r.Header.Get("Length"))
				site(w, r)
			}))
		crowd(t, p)
		checkInFlight(t, lim, 2)
		checkInFlight(t, streams, 2)
		client := p.client(t, false)
		for path, want := range map[string]int{"/page": 200, "/upload": 200, "/file": 503, "/events": 503} {
			res, text := get(t, client, "http://x"+path)
			if res.StatusCode != want {
				t.Errorf("%s: status %d, want %d", path, res.StatusCode, want)
			}
			if want == 503 &&
				(text != "Service Unavailable: limit reached\n" || res.Header.Get("Etag") != "" ||
					res.Header.Get("Retry-After") != "" || res.Header.Get(weirhttp.RefusedHeader) != "") {
				t.Errorf("%s: %q with %v", path, text, res.Header)
			}
		}
		for _, refused := range []*http.Request{conversation(t), upload(t)} {
			res := must.Have(p.client(t, true).Do(refused))(t)
			res.Body.Close()
			if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" ||
				res.Header.Get(weirhttp.RefusedHeader) == "" {
				t.Errorf("a request that was not begun: status %d with %v", res.StatusCode, res.Header)
			}
		}
	})
}

// conversation is a request of HTTP/2 that is a stream, by its headers.
func conversation(t *testing.T) *http.Request {
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/upload", strings.NewReader("x"))
	req.Header.Set("Content-Type", "application/grpc")
	return req
}

// upload is a request whose body does not fit the buffer.
func upload(t *testing.T) *http.Request {
	body := strings.NewReader(strings.Repeat("x", 100_000))
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/upload", body)
	return req
}

// A call of gRPC-Web by HTTP/1 holds a slot, and has its status at its end.
func TestCallsWithoutTurnsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, streams := fixed(t, 1), fixed(t, 1)
		p := servePipes(t, configured(t, lim, weirhttp.Config{Streams: streams}, func(w http.ResponseWriter, r *http.Request) {
			checkInFlight(t, lim, 1)
			grpcAnswer("14", "announced")(w, r)
		}))
		res := must.Have(p.client(t, false).Do(conversation(t)))(t)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		synctest.Wait()
		limittest.Check(t, lim, limittest.Taught{Ignored: 1})
	})
}

// BenchmarkStreams is the cost of holding back a response of 1 KB, and one of 32 KB, beside the
// cost of Limit without.
func BenchmarkStreams(b *testing.B) {
	streams := weir.Must(weir.New(weir.Config{Law: law.Fixed{}, Initial: 100, Max: 100}))
	for name, cfg := range map[string]weirhttp.Config{"without": {}, "with": {Streams: streams}} {
		for size, text := range map[string][]byte{"1KB": make([]byte, 1<<10), "32KB": make([]byte, 32<<10)} {
			b.Run(size+"/"+name, func(b *testing.B) {
				lim := weir.Must(weir.New(weir.Config{}))
				h := weirhttp.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = w.Write(text)
				}), weirhttp.One(lim), cfg)
				req := httptest.NewRequest(http.MethodGet, "/", nil)
				b.ReportAllocs()
				for b.Loop() {
					h.ServeHTTP(bare{}, req)
				}
			})
		}
	}
}

// TestStalledReaderMemory measures the memory for a client that asks for a page and never reads it.
func TestStalledReaderMemory(t *testing.T) {
	longtest.Skip(t)
	const clients = 200
	page := []byte(strings.Repeat("x", 64<<10))
	for name, cfg := range map[string]weirhttp.Config{"without": {}, "with streams": {Streams: fixed(t, 1)}} {
		lim := weir.Must(weir.New(weir.Config{Min: 1000, Max: 1000}))
		arrived := make(chan struct{}, clients)
		h := configured(t, lim, cfg, func(w http.ResponseWriter, _ *http.Request) {
			arrived <- struct{}{}
			_, _ = w.Write(page)
		})
		near := pipes{tcptest.NewPipes()}
		srv := &http.Server{Handler: h}
		go func() { _ = srv.Serve(near) }()
		before := heap()
		for range clients {
			near.send(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			<-arrived
		}
		if cfg.Streams != nil {
			for lim.Snapshot().InFlight > 0 {
				runtime.Gosched()
			}
		}
		t.Logf("%s: %d bytes a client", name, (heap()-before)/clients)
		srv.Close()
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
