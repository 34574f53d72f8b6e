package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
)

// An exchange is one request and its response.
type exchange struct {
	*setting
	route  *Route
	shared *Shared
	asked  context.Context //nolint:containedctx // the client's, with its place in the queue
	w      http.ResponseWriter
	in     *http.Request // the client's
	who    *client.Identity

	upgrade   bool
	converses bool // client and upstream may take turns
	body      intake
	slot      slot.Slot

	url       url.URL         // for the upstream
	ctx       context.Context //nolint:containedctx // of the request to the upstream, nil before it
	cancel    context.CancelCauseFunc
	deadline  *deadline   // for the start of the response, and for its end while the gate's slot is held
	until     time.Time   // the deadline of a call of gRPC or Connect; zero if it has none
	undrained func() bool // ends the wait for the proxy's end

	early early

	source    io.ReadCloser // the upstream's body of the response, nil once it is closed
	sent      func()        // ends the request at the upstream, after the source
	announced []string      // trailers
	whole     buffer        // a response of known length
	ahead     *ahead        // reads a response of unknown length
	after     *time.Timer   // ends the time in which such a response has to end
	comeBack  time.Duration // named by an upstream that refuses work

	status   int         // of the response, 0 until it is known
	refusal  weir.Reason // 0 unless it was refused
	returned bool
	left     atomic.Bool // the client left before the response ended
	broken   atomic.Bool // the response was broken off
}

// The proxy ends a request to the upstream early for these reasons, besides
// weir.ErrExecutionTimeout.
var (
	errClientLeft = errors.New("the client left")
	errOver       = errors.New("the request is over")
)

// Serve answers one request. ctx is the request's own, with its priority, tenant and deadline.
func (rt *Route) Serve(ctx context.Context, w http.ResponseWriter, r *http.Request, who *client.Identity) {
	s := rt.shared
	s.counts.received.Add(1)
	x := &exchange{route: rt, shared: s, setting: s.setting.Load(), asked: ctx, w: w, in: r, who: who}
	x.body.client, x.body.done = r, r.ContentLength == 0
	defer x.end()
	if err := x.serve(); err != nil {
		x.fail(err)
	}
	x.returned = true
}

// serve reads the request, takes a slot, asks the upstream, releases the slot, and copies the
// response.
func (x *exchange) serve() error {
	x.upgrade = headers.IsUpgrade(x.in.Header) && !x.route.upstream.HTTP2()
	x.converses = x.route.config.Body == bodyStreams || x.in.ContentLength < 0 &&
		(x.route.config.GRPC != "" || x.route.upstream.HTTP2() && headers.IsConversation(x.in))
	if !x.body.done {
		if err := x.route.gate.Full(x.asked); err != nil { // a client must not send a body that will be refused
			return refusedError{err}
		}
		if err := x.takeIn(); err != nil {
			return err
		}
	}
	if err := x.admit(); err != nil {
		return refusedError{err}
	}
	x.who.Record.Waited = x.slot.Waited()
	res, err := x.send()
	if err != nil {
		return err
	}
	if err := x.receive(res); err != nil {
		return err
	}
	x.early.end()
	if res.StatusCode == http.StatusSwitchingProtocols {
		return x.switchProtocols(res)
	}
	x.copy(res)
	return nil
}

// bodyStreams is the config.Route.Body of routes whose requests converse.
const bodyStreams = "stream"

// end releases everything that the exchange still holds, and counts the request by its result.
func (x *exchange) end() {
	x.endResponse()
	x.noteRefusal(x.cause())
	if x.after != nil { // this timer ends a response whose client has left
		x.after.Stop()
	}
	if x.cancel != nil {
		x.cancel(errOver)
		x.deadline.stop()
	}
	x.slot.Close(weir.Ignore)
	if x.undrained != nil {
		x.undrained()
	}
	x.closeSource()
	x.early.end()
	x.endRequest()
	x.whole.free()
	x.count()
}

// endResponse ends the reading of a response ahead of its client. If the client has left, the
// upstream may still work on the response, which holds the slot.
func (x *exchange) endResponse() {
	if x.ahead == nil {
		return
	}
	mode := dropping
	if x.route.config.Leaves == leavesCancel || x.slot.State() != slot.Held {
		x.cancel(errOver)
		mode = stopped
	}
	x.ahead.end(mode)
}

func (x *exchange) count() {
	c := &x.shared.counts
	switch {
	case x.refusal != 0:
		c.refused[x.refusal].Add(1)
	case x.left.Load():
		c.left.Add(1)
	case x.returned:
		c.answered[min(max(x.status/100, 0), len(c.answered)-1)].Add(1)
	case x.broken.Load():
		c.broken.Add(1)
	default: // writing to the client failed
		c.left.Add(1)
	}
}
