package observe

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/client"
)

// BenchmarkAccess measures the cost of a line, compared with a slog line of as many ready
// attributes, and with no line:
//
//	go test ./cmd/weir/internal/observe -run '^$' -bench . -benchmem
func BenchmarkAccess(b *testing.B) {
	logger := slog.New(slog.NewJSONHandler(io.Discard, nil)) //nolint:sloglint // the encoding is measured
	r := httptest.NewRequest(http.MethodGet, "/search/tea", nil)
	b.Run("slog", func(b *testing.B) {
		for b.Loop() {
			logger.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("client", "192.0.2.1"), slog.String("method", "GET"),
				slog.String("host", "shop.example"), slog.String("path", "/search/tea"), slog.String("route", "/search/{term}"),
				slog.String("compartment", "search"), slog.Int("status", 200), slog.Int64("bytes", 1000), slog.Float64("duration", 0.0123),
				slog.String("upstream", "http://10.0.0.9"), slog.String("request_id", "QLMFAXPNBLZYTCWMIIVH2W7R6E"))
		}
	})
	for name, access := range map[string]*slog.Logger{"line": logger, "none": nil} {
		b.Run(name, func(b *testing.B) {
			w := httptest.NewRecorder()
			h := observed(New(access, nil), nil, func(_ http.ResponseWriter, _ *http.Request, id *client.Identity) {
				id.Record = client.Record{Route: "/search/{term}", Compartment: "search", Upstream: "http://10.0.0.9"}
			})
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}
