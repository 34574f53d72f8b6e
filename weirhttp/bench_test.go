package weirhttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/weirhttp"
)

// BenchmarkLimit prints the cost of the middleware next to the same handler
// without it.
func BenchmarkLimit(b *testing.B) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, c := range []struct {
		name string
		h    http.Handler
	}{
		{"without", next},
		{"admitted", weirhttp.Limit(next, weirhttp.One(weir.Must(weir.New(weir.Config{}))))},
		{"refused", weirhttp.Limit(next, weirhttp.One(refusing{&weir.RefusedError{Reason: weir.ReasonQueueFull}}))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			w := bare{}
			for b.Loop() {
				c.h.ServeHTTP(w, req)
			}
		})
	}
}
