//go:build unix

package exchange

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
)

// BenchmarkExchange prints the processor time of a request, and of one through ReverseProxy
// alone. Client and upstream run in the same process; their own cost is subtracted from both.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			page := make([]byte, size)
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(size))
				_, _ = w.Write(page)
			}))
			defer upstream.Close()
			to, _ := url.Parse(upstream.URL)
			plain := httptest.NewServer(&httputil.ReverseProxy{
				Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
				Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
			})
			defer plain.Close()
			c, rc := settings()
			shared := must.Have(New(context.Background(), &c, nil))(b)
			rt := shared.Route(limittest.Fixed(b, 100, weir.Queue{}), poolOf(b, upstream.URL, false), rc)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rt.Serve(r.Context(), w, r, client.Identify(r, nil, nil))
			}))
			defer front.Close()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}}
			used := map[string]time.Duration{}
			// In turns, so that other load on the machine affects all alike.
			const turn = 50
			for b.Loop() {
				for _, address := range []string{upstream.URL, plain.URL, front.URL} {
					before := processor()
					for range turn {
						res := must.Have(client.Get(address))(b)
						_, _ = io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
					used[address] += processor() - before
				}
			}
			base, proxy, exchange := used[upstream.URL], used[plain.URL]-used[upstream.URL], used[front.URL]-used[upstream.URL]
			n := float64(b.N * turn)
			b.ReportMetric(float64(base.Microseconds())/n, "µs-direct")
			b.ReportMetric(float64(proxy.Microseconds())/n, "µs-ReverseProxy")
			b.ReportMetric(float64(exchange.Microseconds())/n, "µs-exchange")
			b.ReportMetric(float64(exchange)/float64(proxy), "ratio")
		})
	}
}

// processor returns the processor time of the process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
