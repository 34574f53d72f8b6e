package exchange

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/weirhttp"
)

// forwarder copies between client and upstream. The exchange is in the context of the request.
var forwarder = &httputil.ReverseProxy{
	Rewrite:      rewrite,
	Transport:    toUpstream{},
	BufferPool:   &copies,
	ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) { exchangeOf(r).fail(err) },
	ErrorLog:     log.New(io.Discard, "", 0), // errors are reported by Shared.onFault
}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// forward sends the request to the upstream, and its response to the client.
func (x *exchange) forward() {
	x.begin()
	if x.route.config.Leaves == leavesCancel || !x.slot.isHeld() || !x.shared.finishing.add(x) {
		x.watch()
	}
	r := x.in.WithContext(&x.ctx)
	x.body.put(r)
	x.closes = x.w.Header().Get("Connection") == "close"
	forwarder.ServeHTTP(x.w, r)
}

// rewrite sets the headers that describe the client.
func rewrite(r *httputil.ProxyRequest) {
	x := exchangeOf(r.In)
	if x.who != nil {
		x.who.Forward(r.In, r.Out)
	}
	x.body.rewrite(r.Out)
}

// toUpstream is the transport of all exchanges.
type toUpstream struct{}

// RoundTrip decides about the slot before the client receives any of the response.
func (toUpstream) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	res, err := x.route.upstream.RoundTrip(r)
	if err != nil {
		x.settle(x.outcome(err))
		return nil, err
	}
	return x.receive(res)
}

// outcome returns the outcome of work that failed with err.
func (x *exchange) outcome(err error) weir.Outcome {
	switch cause := context.Cause(&x.ctx); {
	case errors.Is(cause, weir.ErrExecutionTimeout), errors.Is(cause, context.DeadlineExceeded):
		return weir.Timeout
	case cause != nil: // the client left, or the proxy ends
		return weir.Ignore
	default:
		return edge.ErrorOutcome(context.Background(), err)
	}
}

// fail answers a request that got no response.
func (x *exchange) fail(err error) {
	x.restore()
	cause := context.Cause(&x.ctx)
	_, noStream := errors.AsType[noStreamError](err)
	body := x.body.failed()
	if errors.Is(cause, errClientLeft) {
		body = x.body.failedAtLast()
	}
	switch {
	case noStream:
		x.hangUp()
		x.status = http.StatusServiceUnavailable
		weirhttp.RefuseResponse(x.w, x.in, err)
	case errors.Is(cause, weir.ErrExecutionTimeout), errors.Is(cause, context.DeadlineExceeded):
		x.shared.onFault(cause)
		x.answer(http.StatusGatewayTimeout)
	case body != nil:
		x.answer(weirhttp.BodyStatus(x.in.Context(), body))
	case errors.Is(err, errClientLeft), errors.Is(cause, errClientLeft):
		x.answer(statusClientLeft)
	case cause != nil: // the proxy ends
		x.answer(http.StatusServiceUnavailable)
	default:
		x.shared.onFault(err)
		x.answer(http.StatusBadGateway)
	}
}

// copies are the buffers between a body and its receiver. 32 KB is the size that io.Copy
// uses.
var copies copyPool

const copySize = 32 << 10

type copyPool struct{ pool sync.Pool }

func (p *copyPool) Get() []byte {
	if b, ok := p.pool.Get().(*[copySize]byte); ok {
		return b[:]
	}
	return new([copySize]byte)[:]
}

func (p *copyPool) Put(b []byte) { p.pool.Put((*[copySize]byte)(b)) }
