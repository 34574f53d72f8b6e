package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/weirhttp"
)

// An exchange is one request and its response.
type exchange struct {
	*setting
	route  *Route
	shared *Shared
	w      http.ResponseWriter
	in     *http.Request    // the client's
	who    *client.Identity // nil if no layer identified the client

	ctx     lifetime // of the request to the upstream
	cancel  context.CancelCauseFunc
	timeout *time.Timer // for the start of the response, and for its end while the gate's slot is held

	upgrade   bool
	converses bool // client and upstream may take turns
	closes    bool // a layer above asked to close the connection
	permit    weir.Permit
	slot      slot
	body      intake
	whole     buffer    // a response of known length
	ahead     *ahead    // a response of unknown length
	source    io.Closer // the upstream's body of the response
	after     *time.Timer
	comeBack  time.Duration // named by an upstream that refuses work

	status   int         // of the response, 0 until it is known
	refusal  weir.Reason // 0 unless it was refused
	left     bool        // the client left before there was a response
	returned bool
}

// The reasons to end the request to the upstream early, besides weir.ErrExecutionTimeout.
var (
	errClientLeft = errors.New("the client left")
	errOver       = errors.New("the request is over")
)

// ServeHTTP answers one request.
func (rt *Route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := rt.shared
	s.counts.received.Add(1)
	x := &exchange{route: rt, shared: s, setting: s.setting.Load(), w: w, in: r, who: client.Of(r.Context())}
	x.whole.memory = &s.memory
	defer x.end()
	x.serve()
	x.returned = true
}

func (x *exchange) serve() {
	x.upgrade = headers.IsUpgrade(x.in.Header)
	x.converses = x.upgrade || headers.IsConversation(x.in.Header) ||
		x.route.config.Body == bodyStreams || x.route.config.GRPC != ""
	if x.in.ContentLength != 0 { // a client must not send a body that will be refused
		if err := x.route.gate.Full(x.in.Context()); err != nil {
			x.refuse(err)
			return
		}
	}
	stream, err := x.takeIn()
	if err != nil {
		x.answer(weirhttp.BodyStatus(x.in.Context(), err))
		return
	}
	if err := x.admit(stream || x.upgrade); err != nil {
		x.refuse(err)
		return
	}
	x.forward()
}

// bodyStreams is the config.Route.Body of routes whose requests converse.
const bodyStreams = "stream"

// refuse answers a request that got no slot.
func (x *exchange) refuse(err error) {
	if errors.Is(x.in.Context().Err(), context.Canceled) {
		if body := x.body.failedAtLast(); body != nil {
			x.answer(weirhttp.BodyStatus(x.in.Context(), body))
			return
		}
		x.left = true
	} else {
		x.refusal = weir.ReasonDeadline
		if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
			x.refusal = refused.Reason
		}
		if x.who != nil {
			x.who.Record.Refused = x.refusal.String()
		}
	}
	x.hangUp()
	weirhttp.Refuse(x.w, x.in, err)
}

// answer answers in place of the upstream.
func (x *exchange) answer(status int) {
	x.status = status
	x.hangUp()
	if x.body.isStreaming() && x.body.isUnfinished() {
		x.interrupt(-time.Second)
	}
	if status == statusClientLeft {
		x.left = true
		x.w.WriteHeader(status)
		return
	}
	http.Error(x.w, http.StatusText(status), status)
}

// statusClientLeft is the status that nginx logs for a client that closed its request.
const statusClientLeft = 499

// end releases everything the exchange still holds, and counts it.
func (x *exchange) end() {
	x.endResponse()
	if x.after != nil { // this timer ends a response whose client has left
		x.after.Stop()
	}
	x.settle(weir.Ignore) // does nothing if already settled
	x.shared.finishing.remove(x)
	x.slot.close()
	if x.cancel != nil {
		x.cancel(errOver)
		x.timeout.Stop()
	}
	if x.source != nil { // after the cancellation; otherwise a transport would wait for the rest of a request's body
		_ = x.source.Close()
	}
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
	if x.route.config.Leaves == leavesCancel || !x.slot.isHeld() {
		x.cancel(errOver)
		x.ahead.stop()
	} else {
		x.ahead.drop()
	}
	x.ahead.close()
}

func (x *exchange) count() {
	c := &x.shared.counts
	switch {
	case x.refusal != 0:
		c.refused[x.refusal].Add(1)
	case x.left, x.slot.isLate():
		c.left.Add(1)
	case x.returned:
		c.answered[min(max(x.status/100, 0), len(c.answered)-1)].Add(1)
	case x.slot.isBroken():
		c.broken.Add(1)
	default: // writing to the client failed
		c.left.Add(1)
	}
}

// lifetime is the context of the request to the upstream: it has the values of the client's
// context, but not its end.
type lifetime struct {
	context.Context //nolint:containedctx // this is one
	x               *exchange
	deadline        time.Time
}

// exchangeKey is the key of the exchange of a request to the upstream.
type exchangeKey struct{}

func (l *lifetime) Value(key any) any {
	if key == (exchangeKey{}) {
		return l.x
	}
	if v := l.Context.Value(key); v != nil { // package context looks for its own here
		return v
	}
	return l.x.in.Context().Value(key)
}

// Deadline returns the time at which the exchange times out.
func (l *lifetime) Deadline() (time.Time, bool) { return l.deadline, !l.deadline.IsZero() }

// begin starts the timeout of the upstream.
func (x *exchange) begin() {
	var ctx context.Context
	ctx, x.cancel = context.WithCancelCause(x.shared.life)
	x.ctx = lifetime{Context: ctx, x: x}
	cause := weir.ErrExecutionTimeout
	left := time.Duration(x.route.config.Timeout)
	if left > 0 {
		x.ctx.deadline = time.Now().Add(left)
	}
	if deadline, ok := x.in.Context().Deadline(); ok && (left == 0 || deadline.Before(x.ctx.deadline)) {
		x.ctx.deadline, cause = deadline, context.DeadlineExceeded
		left = max(time.Until(deadline), 1)
	}
	if left == 0 {
		left = forever
	}
	x.timeout = time.AfterFunc(left, func() {
		x.shared.counts.timedOut.Add(1)
		x.cancel(cause)
		// Now, because a transport waits for a read of the body, which the client may delay.
		if x.slot.release() {
			x.permit.Finish(weir.Timeout)
		}
	})
}

// forever is a timeout that never ends.
const forever = 1<<63 - 1

// A slot is the slot of the exchange: the gate's slot, limited by a law, or a stream slot in
// its place.
type slot struct {
	mu     sync.Mutex
	held   bool        // the gate's slot is held
	part   func()      // releases an upload's part of the limit; nil for others
	stream func()      // releases the slot of a stream, WebSocket or event stream; nil if there is none
	stop   func() bool // stops watching the client
	closed bool
	broken bool
	late   bool // the client left before the upstream's response ended
}

func (s *slot) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// release releases the gate's slot, and reports whether it was held.
func (s *slot) release() bool {
	s.mu.Lock()
	held, part := s.held, s.part
	s.held, s.part = false, nil
	s.mu.Unlock()
	if part != nil {
		part()
	}
	return held
}

// keep stores the release of a stream slot for the end of the exchange.
func (s *slot) keep(release func()) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.stream = release
	}
	s.mu.Unlock()
	if closed { // a timer fired late
		release()
	}
}

// watch stores the function that stops watching the client.
func (s *slot) watch(stop func() bool) {
	s.mu.Lock()
	s.stop = stop
	closed := s.closed
	s.mu.Unlock()
	if closed {
		stop()
	}
}

func (s *slot) close() {
	s.mu.Lock()
	s.closed = true
	release, stop := s.stream, s.stop
	s.stream = nil
	s.mu.Unlock()
	if release != nil {
		release()
	}
	if stop != nil {
		stop()
	}
}

func (s *slot) breakOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
}

func (s *slot) setLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = true
}

func (s *slot) isLate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

func (s *slot) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}
