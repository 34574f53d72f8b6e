package client

import (
	"net/http"
	"net/http/httputil"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// BenchmarkForward measures the cost of the headers for a request, compared with
// net/http/httputil:
//
//	go test ./cmd/weir/internal/client -run '^$' -bench . -benchmem
func BenchmarkForward(b *testing.B) {
	empty := func(h http.Header) {
		for name := range h {
			delete(h, name)
		}
	}
	b.Run("httputil", func(b *testing.B) {
		r, out := from("192.0.2.1:9"), from("192.0.2.1:9")
		for b.Loop() {
			empty(out.Header)
			(&httputil.ProxyRequest{In: r, Out: out}).SetXForwarded()
		}
	})
	for name, run := range map[string]struct {
		tracer *spans.Tracer
		header []string
	}{
		"stranger": {nil, nil},
		"traced":   {tracer(b, 0.01), nil},
		"trusted":  {nil, []string{"X-Forwarded-For", "198.51.100.7", "X-Request-Id", "4bf92f35-77b3-4da3-ce92"}},
	} {
		b.Run(name, func(b *testing.B) {
			remote := "192.0.2.1:9"
			if run.header != nil {
				remote = "10.0.0.1:9"
			}
			r, peers, h := from(remote, run.header...), inside(b), http.Header{}
			for b.Loop() {
				empty(h)
				Identify(r, peers, run.tracer).Forward(r.Context(), r, h)
			}
		})
	}
}
