package weirhttp_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// BenchmarkStreams is the cost of holding back a response of 1 KB, and one of 32 KB, beside what
// Limit costs without.
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
	for name, cfg := range map[string]weirhttp.Config{"without": {}, "with streams": {Streams: pinned(t, 1)}} {
		lim := weir.Must(weir.New(weir.Config{Min: 1000, Max: 1000}))
		arrived := make(chan struct{}, clients)
		h := configured(t, lim, cfg, func(w http.ResponseWriter, _ *http.Request) {
			arrived <- struct{}{}
			_, _ = w.Write(page)
		})
		near := &pipes{make(chan net.Conn), make(chan struct{})}
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
