package weirhttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/trust"
)

// The headers in which a client tells a server of a request what the server's limiter can use. No standard has any of them: Priority
// (RFC 9218) orders responses within a connection, and the names of Envoy, gRPC and the SDKs of AWS are their own.
const (
	// PriorityHeader has the request's [weir.Priority] by name, such as "high". It is left out for normal.
	PriorityHeader = "Weir-Priority"
	// TimeoutHeader has the time that is left until the client gives up, in whole milliseconds, rounded down. It is left out if the client waits for ever. It is no
	// date, because clocks differ.
	TimeoutHeader = "Weir-Timeout-Ms"
	// AttemptHeader has the number of the attempt, 2 for the first retry. It is left out for first attempts.
	AttemptHeader = "Weir-Attempt"
)

// Propagate returns a RoundTripper that sends on the [weir.Priority] and the deadline of each request's context, in [PriorityHeader] and
// [TimeoutHeader], with base, or with [http.DefaultTransport] if base is nil. What the request had there before is dropped: a proxy
// must not pass on what it does not trust. It is safe for concurrent use if base is, and leaves requests as they are.
func Propagate(base http.RoundTripper) http.RoundTripper {
	return propagator{on(base)}
}

type propagator struct{ base }

func (t propagator) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	req = withHeader(req)
	req.Header.Del(PriorityHeader)
	req.Header.Del(TimeoutHeader)
	if p := weir.PriorityFrom(ctx); p != weir.Normal {
		req.Header.Set(PriorityHeader, p.String())
	}
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set(TimeoutHeader, strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 0), 10))
	}
	return t.base.RoundTrip(req)
}

// withHeader returns the request with a header of its own.
func withHeader(req *http.Request) *http.Request {
	req = req.WithContext(req.Context())
	if req.Header = req.Header.Clone(); req.Header == nil {
		req.Header = http.Header{}
	}
	return req
}

// Trust returns a handler that runs next with what the client said in [PriorityHeader], [TimeoutHeader] and [AttemptHeader], if trusted
// vouches for the request: with that priority, and a context that ends when the client gives up. A retry has the next lower priority, so
// that a queue refuses it before the first attempts. Other requests reach next without these headers, so that what reads them later, such
// as a function that chooses a gate for retries, can rely on them.
//
// Vouch for a request by the address of its peer or its certificate, never by another header: whoever can send
// "critical" will. Put Trust outside of [Limit]. An invalid value counts as none. trusted is called
// concurrently, for requests with one of the headers. Trust panics if next or trusted is nil.
func Trust(next http.Handler, trusted func(*http.Request) bool) http.Handler {
	if next == nil || trusted == nil {
		panic("weirhttp: Trust: next or trusted is nil")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !propagated(r.Header) {
			next.ServeHTTP(w, r)
			return
		}
		if !trusted(r) {
			r = withHeader(r)
			for _, name := range propagation {
				r.Header.Del(name)
			}
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := received(r)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

var propagation = []string{PriorityHeader, TimeoutHeader, AttemptHeader}

// propagated reports whether any of the headers is there.
func propagated(h http.Header) bool {
	for _, name := range propagation {
		if h[name] != nil {
			return true
		}
	}
	return false
}

// maxTimeout is the longest time to wait that is believed. Beyond it a timeout means nothing for a request.
const maxTimeout = 24 * time.Hour

// received returns the context of a request whose headers are trusted.
func received(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if ms, ok := number(r.Header, TimeoutHeader); ok && ms <= maxTimeout.Milliseconds() {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	}
	p, told := priority(r.Header)
	if !told {
		p = weir.PriorityFrom(ctx)
	}
	if attempt, ok := number(r.Header, AttemptHeader); ok && attempt > 1 {
		p, told = min(p+1, weir.Low), true
	}
	if told {
		ctx = weir.WithPriority(ctx, p)
	}
	return ctx, cancel
}

// priority returns the priority in a header, and whether there is a valid one.
func priority(h http.Header) (p weir.Priority, ok bool) {
	return trust.ParsePriority(single(h, PriorityHeader))
}

// number returns the number in a header, and whether there is one.
func number(h http.Header, name string) (n int64, ok bool) {
	text := single(h, name)
	if !isDigits(text) {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// single returns the value of a header that is there once: of two, neither is believed.
func single(h http.Header, name string) string {
	if values := h[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}
