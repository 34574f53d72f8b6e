package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
)

// send sends the request to the upstream, and returns the response once its header is there.
func (x *exchange) send() (*http.Response, error) {
	x.startDeadline()
	if x.route.config.Leaves == leavesCancel || x.slot.State() != slot.Held {
		x.watch()
	} else { // continues without its client until the proxy ends
		x.undrained = context.AfterFunc(x.shared.draining, x.watch)
	}
	out, err := x.outgoing()
	var res *http.Response
	if err == nil {
		res, x.sent, err = x.route.upstream.Send(x.ctx, out, x)
	}
	if err != nil {
		x.settle(x.outcome(err))
		return nil, err
	}
	x.body.answered()
	x.source = res.Body
	return res, nil
}

// startDeadline starts the deadline of the upstream: the timeout of the route, or the client's own
// deadline if that is earlier.
func (x *exchange) startDeadline() {
	x.ctx, x.cancel = context.WithCancelCause(x.shared.life)
	cause, left := weir.ErrExecutionTimeout, time.Duration(x.route.config.Timeout)
	if deadline, ok := x.asked.Deadline(); ok && (left == 0 || time.Until(deadline) < left) {
		cause, left = context.DeadlineExceeded, max(time.Until(deadline), 1)
	}
	if own, ok := x.callTimeout(); ok {
		x.until = time.Now().Add(own)
		if left == 0 || own < left {
			cause, left = errClientLeft, own
		}
	}
	left = cmp.Or(left, forever)
	x.deadline = newDeadline(left, func(client bool) {
		cause := cause
		switch {
		case client:
			x.body.fail(os.ErrDeadlineExceeded)
			cause = errClientLeft
			x.interrupt()
		case !errors.Is(cause, errClientLeft):
			x.shared.counts.timedOut.Add(1)
		}
		x.cancel(cause)
		// The slot ends now, because a transport waits for a read of the body, which the client may
		// delay.
		x.slot.Finish(slot.Outcome{Outcome: x.outcome(cause)})
	})
	if errors.Is(cause, weir.ErrExecutionTimeout) && !x.converses && x.body.streams {
		x.body.deadline = x.deadline
	}
}

// callTimeout returns the time that remains for a call of gRPC or Connect. At its end the client
// leaves and the server ends the call. This is no failure of the server, because strangers may name
// any time.
func (x *exchange) callTimeout() (left time.Duration, ok bool) {
	if x.route.config.GRPC == "" {
		return 0, false
	}
	if left, ok = headers.GRPCTimeout(x.in.Header["Grpc-Timeout"]); !ok {
		left, ok = headers.Timeout(x.in.Header["Connect-Timeout-Ms"])
	}
	return max(left-x.slot.Waited(), 1), ok
}

// forever is a timeout that never ends.
const forever = 1<<63 - 1

// leavesCancel ends a request when its client leaves; see config.Route.Leaves.
const leavesCancel = "cancel"

// watch ends the request to the upstream when its client leaves. The server ends the client's
// context with each request, so a long connection does not collect such functions.
func (x *exchange) watch() {
	context.AfterFunc(x.in.Context(), func() {
		if !x.body.isCut() {
			x.cancel(errClientLeft)
		}
	})
}

// outgoing returns the request for the upstream. It shares the values of headers with the
// client's request.
func (x *exchange) outgoing() (*http.Request, error) {
	in := x.in
	protocol := ""
	if x.upgrade {
		protocol = headers.UpgradeTo(in.Header)
	}
	if !headers.IsPrintable(protocol) {
		return nil, fmt.Errorf("client tried to switch to invalid protocol %q", protocol)
	}
	h := make(http.Header, len(in.Header)+headersOfClient)
	maps.Copy(h, in.Header)
	headers.RemoveHopByHop(h)
	if headers.HasToken(in.Header["Te"], "trailers") {
		h["Te"] = []string{"trailers"}
	}
	if protocol != "" {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // otherwise a transport sends its own
	}
	x.who.Forward(x.asked, in, h)
	x.url = *in.URL
	x.url.RawQuery = headers.CleanQuery(x.url.RawQuery)
	// A transport waits for a 100 Continue only for a client of HTTP/1.1 or above.
	out := &http.Request{
		Method: in.Method, URL: &x.url, Header: h, Host: in.Host,
		Proto: in.Proto, ProtoMajor: in.ProtoMajor, ProtoMinor: in.ProtoMinor,
	}
	x.body.put(out, x.route.upstream.HTTP2())
	return out, nil
}

// headersOfClient is the number of headers that a client.Identity adds at most.
const headersOfClient = 12

// cause returns the reason for the early end of the request, or nil. The server of a call may end
// the call at its deadline before the timer does.
func (x *exchange) cause() error {
	if x.ctx == nil {
		return context.Cause(x.shared.life)
	}
	if !x.until.IsZero() && !time.Now().Before(x.until) {
		x.cancel(errClientLeft)
	}
	return context.Cause(x.ctx)
}

// ClientFailed reports whether the client has left, the time of its call is over, or its body could
// not be read, from the client or from its file.
func (x *exchange) ClientFailed() bool {
	if errors.Is(x.cause(), errClientLeft) {
		return true
	}
	b := &x.body
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost || b.failure != nil
}
