package weirhttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/headers"
)

// Transport returns a RoundTripper that sends a request with base, or with
// [http.DefaultTransport] if base is nil, within the limit of the admitter that
// admitterFor names for the request. A nil admitter exempts the request, as in
// [Limit]. It is safe for concurrent use if base and admitterFor are, and leaves
// requests as they are. It panics if admitterFor is nil.
//
// A refused request is never sent, and its body is closed. The error is the admitter's error:
// errors.As finds the [*weir.RefusedError] in the error that [http.Client] returns. A
// [net/http/httputil.ReverseProxy] answers any error with 502: see the example of [Refuse].
//
// The slot is held until the response's body has been read to its end or
// closed, or the request's context has ended, whichever comes first, and the
// latency runs until then. A body that is neither read nor closed, under a
// context without an end, keeps its slot as it keeps its connection.
func Transport(base http.RoundTripper, admitterFor func(*http.Request) weir.Admitter) http.RoundTripper {
	if admitterFor == nil {
		panic(missing("Transport: admitterFor", aFunction))
	}
	return &transport{base: on(base), admitterFor: admitterFor}
}

type transport struct {
	base
	admitterFor func(*http.Request) weir.Admitter
}

type base struct{ http.RoundTripper }

// on returns a base that sends with rt, or with http.DefaultTransport if rt is nil.
func on(rt http.RoundTripper) base {
	if rt == nil {
		rt = http.DefaultTransport
	}
	return base{rt}
}

// CloseIdleConnections serves [http.Client.CloseIdleConnections].
func (b base) CloseIdleConnections() {
	if c, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	admitter := t.admitterFor(req)
	if edge.IsExempt(admitter) {
		return t.base.RoundTrip(req)
	}
	b := &body{req: req, outcome: weir.Failure}
	var err error
	if b.permit, err = admitter.Acquire(req.Context()); err != nil {
		closeBody(req)
		return nil, err
	}
	open := false
	defer func() {
		if !open {
			b.permit.Finish(b.outcome)
		}
	}()
	res, err := t.base.RoundTrip(req)
	if err != nil {
		b.outcome = edge.ErrorOutcome(req.Context(), err)
		return res, err
	}
	if b.outcome = responseOutcome(res); b.outcome == weir.Overloaded {
		after, _ := headers.RetryAfter(res.Header, time.Now())
		b.permit.Pushback(after)
	}
	open = b.wrap(res)
	return res, nil
}

// statusOverloaded is the answer of some APIs in place of 503.
const statusOverloaded = 529

// responseOutcome is statusOutcome, but 429 and 529 are overloads: with these statuses the
// downstream refuses this very client.
func responseOutcome(res *http.Response) weir.Outcome {
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == statusOverloaded {
		return weir.Overloaded
	}
	return statusOutcome(res.StatusCode, res.Header)
}

// body is a response's body that holds the slot.
type body struct {
	io.ReadCloser
	permit  weir.Permit
	req     *http.Request
	res     *http.Response
	outcome weir.Outcome // by the response's status
	stop    func() bool
}

// wrap makes b the body of res, and reports whether it has. It leaves alone a response without a
// body, and an upgraded connection, which has to stay an io.ReadWriteCloser.
func (b *body) wrap(res *http.Response) bool {
	b.res = res
	if res.Body == nil || res.Body == http.NoBody || res.StatusCode == http.StatusSwitchingProtocols {
		b.outcome = b.ended()
		return false
	}
	b.ReadCloser, res.Body = res.Body, b
	ctx := b.req.Context()
	b.stop = context.AfterFunc(ctx, func() { b.permit.Finish(edge.ContextOutcome(ctx)) })
	return true
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		b.finish(b.ended())
	default:
		b.finish(edge.ErrorOutcome(b.req.Context(), err))
	}
	return n, err
}

// Close gives the slot back first: a Read that the closing interrupts must not
// blame the downstream.
func (b *body) Close() error {
	if ctx := b.req.Context(); ctx.Err() != nil {
		b.finish(edge.ContextOutcome(ctx))
	} else {
		b.finish(b.outcome)
	}
	return b.ReadCloser.Close()
}

// ended returns the outcome of a response that has ended. gRPC says in a trailer how the call
// ended, or in the header if there is no body.
func (b *body) ended() weir.Outcome {
	if code, ok := grpcCode(b.res.StatusCode, b.res.Header, b.res.Trailer); ok {
		return code.ClientOutcome(false)
	}
	return b.outcome
}

func (b *body) finish(outcome weir.Outcome) {
	b.stop()
	b.permit.Finish(outcome)
}
