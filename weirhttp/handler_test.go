package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

func TestResponseOutcome(t *testing.T) {
	grpc := http.Header{"Content-Type": {"application/grpc+proto"}}
	status := func(code string) http.Header { return http.Header{"Grpc-Status": {code}} }
	failed := http.Header{"Content-Type": {"application/grpc"}, "Grpc-Status": {"13"}}
	events := http.Header{"Content-Type": {"text/event-stream"}}
	for _, c := range []struct {
		status          int
		header, trailer http.Header
		want            weir.Outcome
	}{
		{200, nil, nil, weir.Success},
		{101, nil, nil, weir.Ignore},
		{304, nil, nil, weir.Success},
		{400, nil, nil, weir.Ignore},
		{429, nil, nil, weir.Ignore},
		{500, nil, nil, weir.Failure},
		{503, nil, nil, weir.Overloaded},
		{504, nil, nil, weir.Timeout},
		{200, grpc, nil, weir.Success},
		{200, grpc, status("0"), weir.Success},
		{200, grpc, status("4"), weir.Timeout},
		{200, grpc, status("x"), weir.Failure},
		{200, grpc, status("-1"), weir.Failure},
		{200, failed, nil, weir.Failure},
		{200, failed, status("0"), weir.Success},
		{503, grpc, status("0"), weir.Overloaded},
		{200, nil, status("13"), weir.Success},
		{200, status("14"), nil, weir.Success},
		{200, events, nil, weir.Ignore},
		{500, events, nil, weir.Failure},
	} {
		if got := weirhttp.ResponseOutcome(c.status, c.header, c.trailer); got != c.want {
			t.Errorf("%d %v %v: %v, want %v", c.status, c.header, c.trailer, got, c.want)
		}
	}
}

func TestRefusalsOfHandlers(t *testing.T) {
	full := &weir.RefusedError{Limiter: "secret", Reason: weir.ReasonLimitReached, RetryAfter: time.Minute}
	for name, c := range map[string]struct {
		refuse                 func(http.ResponseWriter, *http.Request, error)
		comesBack, refusedName bool
	}{
		"Refuse":         {weirhttp.Refuse, true, true},
		"RefuseResponse": {weirhttp.RefuseResponse, false, false},
	} {
		w := httptest.NewRecorder()
		c.refuse(w, httptest.NewRequest(http.MethodGet, "/", nil), full)
		if w.Code != 503 || w.Body.String() != "Service Unavailable: limit reached\n" {
			t.Errorf("%s: %d %q", name, w.Code, w.Body)
		}
		if got := w.Header().Get("Retry-After") != ""; got != c.comesBack {
			t.Errorf("%s: Retry-After %v, want %v", name, got, c.comesBack)
		}
		if got := w.Header().Get(weirhttp.RefusedHeader) != ""; got != c.refusedName {
			t.Errorf("%s: %s %v, want %v", name, weirhttp.RefusedHeader, got, c.refusedName)
		}
	}
}

func TestBodyStatus(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	for want, err := range map[int]error{
		413: &http.MaxBytesError{Limit: 1},
		408: fmt.Errorf("read: %w", os.ErrDeadlineExceeded),
		400: errors.New("broken"),
	} {
		if got := weirhttp.BodyStatus(t.Context(), err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
	if got := weirhttp.BodyStatus(left, errors.New("broken")); got != 499 {
		t.Errorf("of a client that left: %d, want 499", got)
	}
}

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
		"0":  {limittest.Taught{Succeeded: calls}, limittest.Taught{Succeeded: calls}},
		"8":  {limittest.Taught{Ignored: calls}, limittest.Taught{Overloaded: calls}}, // RESOURCE_EXHAUSTED
		"14": {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
		"x":  {limittest.Taught{Failed: calls}, limittest.Taught{Failed: calls}},
	} {
		for _, how := range []string{"announced", "late", "headers only"} {
			for _, withStreams := range []bool{false, true} {
				t.Run(code+" "+how, func(t *testing.T) {
					lim, out, streams := fixed(t, 1), fixed(t, 1), fixed(t, 1)
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
