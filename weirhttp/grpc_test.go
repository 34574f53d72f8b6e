package weirhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// grpcAnswer answers as a server of gRPC does that net/http serves: the status of a call is a
// trailer.
func grpcAnswer(code string, how string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc+proto")
		switch how {
		case "announced":
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = io.WriteString(w, "message")
			w.(http.Flusher).Flush()
			w.Header().Set("Grpc-Status", code)
		case "late":
			w.WriteHeader(http.StatusOK)
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", code)
		case "headers only":
			w.Header().Set("Grpc-Status", code)
			w.WriteHeader(http.StatusOK)
		}
	}
}

func TestStatusInTrailersTeaches(t *testing.T) {
	const calls = 3
	for code, c := range map[string]struct{ server, client limittest.Taught }{
		"0":   {limittest.Taught{Succeeded: calls}, limittest.Taught{Succeeded: calls}},
		"3":   {limittest.Taught{Ignored: calls}, limittest.Taught{Ignored: calls}},
		"4":   {limittest.Taught{TimedOut: calls}, limittest.Taught{TimedOut: calls}},
		"8":   {limittest.Taught{Ignored: calls}, limittest.Taught{Overloaded: calls}}, // RESOURCE_EXHAUSTED
		"14":  {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
		"x":   {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
		"-1":  {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
		"999": {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
	} {
		for _, how := range []string{"announced", "late", "headers only"} {
			for _, withStreams := range []bool{false, true} {
				t.Run(code+" "+how, func(t *testing.T) {
					lim, out, streams := fixed(t, 1), fixed(t, 1), pinned(t, 1)
					cfg := weirhttp.Config{FirstByte: true}
					if withStreams {
						cfg = weirhttp.Config{Streams: streams}
					}
					srv := serve(t, configured(t, lim, cfg, grpcAnswer(code, how)), http2)
					client := &http.Client{Transport: weirhttp.Transport(srv.Client().Transport, weirhttp.One(out))}
					for range calls {
						res := must.Have(client.Post(srv.URL, "application/grpc+proto", strings.NewReader("message")))(t)
						_, _ = io.Copy(io.Discard, res.Body)
						res.Body.Close()
						<-srv.ended
					}
					limittest.Check(t, out, c.client)
					if withStreams {
						limittest.Check(t, lim, limittest.Taught{Ignored: calls})
						limittest.Check(t, streams, c.server)
						return
					}
					limittest.Check(t, lim, c.server)
				})
			}
		}
	}
}

// A header of this name says nothing if the answer is not gRPC's, or its status is.
func TestStatusOfOthersIsNoTrailer(t *testing.T) {
	for want, h := range map[limittest.Taught]http.HandlerFunc{
		{Succeeded: 1}: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Grpc-Status", "14") },
		{Failed: 1}: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "0")
			w.WriteHeader(http.StatusBadGateway)
		},
	} {
		lim := fixed(t, 1)
		limit(lim, h).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
		limittest.Check(t, lim, want)
	}
}
