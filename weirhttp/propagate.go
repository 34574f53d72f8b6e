package weirhttp

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/trust"
)

// A client sends these headers to the limiter of a server. No standard has any of them: Priority
// (RFC 9218) orders responses within a connection, and the names of Envoy, gRPC and the SDKs of AWS
// are their own.
const (
	// PriorityHeader has the request's [weir.Priority] by name, such as "high". It is left out for
	// the normal priority.
	PriorityHeader = "Weir-Priority"
	// TimeoutHeader has the time until the client gives up, in whole milliseconds,
	// rounded down. It is left out if the client waits for ever. It is no date, because clocks
	// differ.
	TimeoutHeader = "Weir-Timeout-Ms"
	// AttemptHeader has the number of the attempt, 2 for the first retry. It is left out for first
	// attempts.
	AttemptHeader = "Weir-Attempt"
)

// Propagate returns a RoundTripper that sends requests with base, or with [http.DefaultTransport]
// if base is nil. It sends on the [weir.Priority] and the deadline of each request's context, in
// [PriorityHeader] and [TimeoutHeader]. It drops the values that the request had in these headers:
// a proxy must not pass on values that it does not trust. It is safe for concurrent use if base is,
// and leaves requests as they are.
func Propagate(base http.RoundTripper) http.RoundTripper {
	return propagator{on(base)}
}

type propagator struct{ base }

func (t propagator) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	req = withHeader(req)
	req.Header.Del(PriorityHeader)
	req.Header.Del(TimeoutHeader)
	if p := weir.PriorityFrom(ctx); p != weir.PriorityNormal {
		req.Header.Set(PriorityHeader, p.String())
	}
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set(TimeoutHeader, strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 0), 10))
	}
	return t.base.RoundTrip(req)
}

func withHeader(req *http.Request) *http.Request {
	req = req.WithContext(req.Context())
	if req.Header = req.Header.Clone(); req.Header == nil {
		req.Header = http.Header{}
	}
	return req
}

// Trust returns a handler that runs next. If trusted vouches for a request, its context gets the
// priority of [PriorityHeader], and ends when the client gives up, by [TimeoutHeader]. A retry, by
// [AttemptHeader], has the next lower priority, so that a queue refuses it before the first
// attempts. Other requests reach next without these headers, so that later readers, such as a
// function that chooses an admitter for retries, can rely on the headers.
//
// Vouch for a request by the address of its peer or its certificate, never by another header: any
// client that can send "critical" will. Put Trust outside of [Limit]. An invalid value counts as no
// value. trusted is called concurrently, for requests with one of the headers. Trust panics if next
// or trusted is nil.
func Trust(next http.Handler, trusted func(*http.Request) bool) http.Handler {
	if next == nil {
		panic(missing("Trust: next", "a handler"))
	}
	if trusted == nil {
		panic(missing("Trust: trusted", "a function, such as Peers.Request of package trust"))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(propagation, func(name string) bool { return r.Header[name] != nil }) {
			next.ServeHTTP(w, r)
			return
		}
		var inner *http.Request
		if trusted(r) {
			ctx, cancel := received(r)
			defer cancel()
			inner = r.WithContext(ctx)
		} else {
			inner = unheard(r)
		}
		defer passBack(r, inner)
		next.ServeHTTP(w, inner)
	})
}

var propagation = []string{PriorityHeader, TimeoutHeader, AttemptHeader}

func unheard(r *http.Request) *http.Request {
	r = withHeader(r)
	for _, name := range propagation {
		r.Header.Del(name)
	}
	return r
}

// received returns the context of a request whose headers are trusted.
func received(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if left, ok := headers.Timeout(r.Header[TimeoutHeader]); ok {
		ctx, cancel = context.WithTimeout(ctx, left)
	}
	return trust.Told(ctx, r.Header[PriorityHeader], r.Header[AttemptHeader]), cancel
}
