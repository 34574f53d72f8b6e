package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/weirhttp"
)

// fail answers a request that gets no response of the upstream.
func (x *exchange) fail(err error) {
	x.early.end()
	x.hangUp()
	if refused, ok := err.(refusedError); ok { //nolint:errorlint // serve returns it as it is
		x.refuse(refused.error)
		return
	}
	cause := x.cause()
	body := x.body.failed()
	_, noStream := errors.AsType[noStreamError](err)
	switch {
	case noStream:
		x.noteRefusal(err)
		x.status = http.StatusServiceUnavailable
		weirhttp.RefuseResponse(x.w, x.in, err)
	case errors.Is(cause, weir.ErrExecutionTimeout), errors.Is(cause, context.DeadlineExceeded):
		x.fault(err)
		x.answer(http.StatusGatewayTimeout)
	case body != nil && x.shared.life.Err() == nil: // otherwise the proxy has ended the read
		x.answer(weirhttp.BodyStatus(x.in.Context(), body))
	case errors.Is(err, errClientLeft), errors.Is(cause, errClientLeft):
		x.answer(statusClientLeft)
	case cause != nil: // the proxy ends
		x.answer(http.StatusServiceUnavailable)
	default:
		x.fault(err)
		x.answer(http.StatusBadGateway)
	}
}

// fault reports an error of the upstream, with its route and address.
func (x *exchange) fault(err error) {
	where := x.route.config.Pattern()
	if address := x.who.Record.Upstream; address != "" { // of the response
		where += ", " + address
	}
	x.shared.onFault("request failed", fmt.Errorf("route %s: %w", where, err))
}

// refuse answers a request that got no slot.
func (x *exchange) refuse(err error) {
	if errors.Is(x.in.Context().Err(), context.Canceled) {
		x.left.Store(true)
	} else {
		x.who.Record.Refused = &weir.RefusedError{Limiter: x.route.config.Compartment, Reason: weir.ReasonDeadline}
		x.noteRefusal(err)
		x.refusal = x.who.Record.Refused.Reason
	}
	weirhttp.Refuse(x.w, x.in, err)
}

// noteRefusal records which limiter refused the request, if err says so.
func (x *exchange) noteRefusal(err error) {
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		x.who.Record.Refused = refused
	}
}

// answer answers in place of the upstream.
func (x *exchange) answer(status int) {
	x.status = status
	if status == statusClientLeft {
		x.left.Store(true)
		x.w.WriteHeader(status)
		return
	}
	http.Error(x.w, http.StatusText(status), status)
}

// statusClientLeft is the status that nginx logs for a client that closed its request.
const statusClientLeft = 499

// interrupt ends the current read of the client's body.
func (x *exchange) interrupt() {
	_ = x.body.control.SetReadDeadline(time.Now().Add(-time.Second))
}

// endRequest ends the reading of the client's body.
func (x *exchange) endRequest() {
	b := &x.body
	switch {
	case !b.isUnfinished():
	case x.returned && x.in.ProtoMajor == 1:
		_ = b.control.Flush()
		b.abandon()
		b.drain()
	default:
		b.abandon()
		x.interrupt()
	}
	b.close()
}
