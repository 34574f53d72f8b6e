//go:build unix

package upstream

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// BenchmarkRoundTrip sends requests in turn through a pool of three addresses and through a
// plain transport. x is the ratio of the processor time.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(strconv.Itoa(size>>10)+"KB", func(b *testing.B) {
			answer := strings.Repeat("x", size)
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, answer) })
			var urls []string
			for range 3 {
				server := httptest.NewServer(handler)
				defer server.Close()
				urls = append(urls, server.URL)
			}
			pool, _ := started(b, defaults(urls...))
			plain := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1000}
			defer plain.CloseIdleConnections()
			buffer := make([]byte, 32<<10) // the size of httputil.ReverseProxy
			turn := 0
			exchange := func(roundTrip func(*http.Request) (*http.Response, error)) time.Duration {
				turn++
				req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, urls[turn%len(urls)], nil)
				start := processorTime(b)
				res := must.Have(roundTrip(req))(b)
				io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{res.Body}, buffer)
				res.Body.Close()
				return processorTime(b) - start
			}
			throughPool := func(req *http.Request) (*http.Response, error) { return roundTrip(pool, req) }
			var byPool, byPlain time.Duration
			for first := true; b.Loop(); first = !first {
				if first {
					byPool += exchange(throughPool)
				}
				byPlain += exchange(plain.RoundTrip)
				if !first {
					byPool += exchange(throughPool)
				}
			}
			b.ReportMetric(float64(byPool)/float64(byPlain), "x")
			b.ReportMetric(float64(byPlain)/float64(b.N), "ns/plain")
			b.ReportMetric(float64(byPool)/float64(b.N), "ns/pool")
		})
	}
}

// processorTime is the processor time of the process, which other processes do not affect.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkOverhead measures the pool's own cost of a request, with a transport that does
// nothing.
func BenchmarkOverhead(b *testing.B) {
	for _, n := range []int{1, 3, 100} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			p := fakes(b, n)
			res := response(http.StatusOK)
			for i := range n {
				p.pretend(i, func(*http.Request) (*http.Response, error) {
					own := *res
					return &own, nil
				})
			}
			req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
			b.ReportAllocs()
			for b.Loop() {
				res := must.Have(roundTrip(p, req))(b)
				res.Body.Close()
			}
		})
	}
}
