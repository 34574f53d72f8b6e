package exchange

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
	"github.com/weir-go/weir/weirhttp"
)

// receive decides about the slot once the header of the response has arrived, before the client
// receives any of it. The header of the response does not change any more after receive.
func (x *exchange) receive(res *http.Response) error {
	x.status = res.StatusCode
	dropOwn(res.Header)
	headers.TellWait(res.Header, x.slot.Waited())
	x.who.Record.Upstream = res.Request.URL.Host
	x.body.converse()
	if res.StatusCode == http.StatusSwitchingProtocols && x.upgrade {
		return x.becomeStream(slot.Of(x.shared.sockets), weir.Ignore)
	}
	if res.StatusCode == http.StatusSwitchingProtocols { // the request did not ask for it
		x.deadline.stop()
		x.settle(weir.Failure)
		return nil
	}
	headers.RemoveHopByHop(res.Header)
	x.announced = slices.Collect(maps.Keys(res.Trailer))
	begun := x.teaches(res.StatusCode, nil, nil)
	if begun == weir.Overloaded {
		x.comeBack, _ = headers.RetryAfter(res.Header, time.Now())
	}
	var err error
	switch length := res.ContentLength; {
	case x.slot.State() != slot.Held: // already a stream
		x.deadline.stop()
	case !x.hasBody(res):
		x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
	case headers.IsEvents(res.Header):
		err = x.becomeStream(slot.Of(x.shared.events), begun)
	case length > int64(x.Response):
		err = x.becomeStream(x.routeStreams, begun)
	case length >= 0: // HTTP/2 may send trailers beside a length of 0
		err = x.readWhole(res, begun)
	default:
		err = x.readOn(res, begun)
	}
	if err == nil && errors.Is(x.in.Context().Err(), context.Canceled) {
		err = errClientLeft
	}
	return err
}

// hasBody reports whether a body is to be read. A response 304 may have a length without a body, at
// which net/http fails by HTTP/2.
func (x *exchange) hasBody(res *http.Response) bool {
	return res.Body != http.NoBody && x.in.Method != http.MethodHead && res.StatusCode != http.StatusNotModified
}

// dropOwn removes headers that only this proxy may set from the upstream's response.
func dropOwn(h http.Header) {
	delete(h, client.RequestIDHeader) // already set
	delete(h, weirhttp.RefusedHeader)
}

// teaches returns the outcome of a response. Most 429s report the quota of one key, so a 429 counts
// as overload only if the route says so.
func (x *exchange) teaches(status int, header, trailer http.Header) weir.Outcome {
	if status == http.StatusTooManyRequests && x.route.config.Pushback {
		return weir.Overloaded
	}
	return weirhttp.ResponseOutcome(status, header, trailer)
}

// settle releases the gate's slot and reports the outcome of the upstream's work.
func (x *exchange) settle(o weir.Outcome) {
	if o == weir.Success && errors.Is(x.in.Context().Err(), context.Canceled) {
		o = weir.Late
	}
	if x.slot.Finish(slot.Outcome{Outcome: o, ComeBack: x.comeBack}) {
		x.deadline.stop()
	}
}

// becomeStream exchanges the gate's slot, if it is still held, for a stream slot.
func (x *exchange) becomeStream(of slot.Source, o weir.Outcome) error {
	exchanged, err := x.slot.Exchange(x.asked, of, slot.Outcome{Outcome: o, ComeBack: x.comeBack})
	if !exchanged {
		return nil
	}
	x.deadline.stop()
	if err != nil && errors.Is(x.in.Context().Err(), context.Canceled) {
		return errClientLeft
	}
	if err != nil {
		x.shared.counts.noStream.Add(1)
		return noStreamError{err}
	}
	x.shared.counts.exchanged.Add(1)
	x.watch()
	return nil
}

// A noStreamError is the refusal of a stream to a response.
type noStreamError struct{ error }

func (e noStreamError) Unwrap() error { return e.error }

// hangUp closes the connection after the response if the body was not read to its end, because the
// rest must not be read as another request: with full duplex, net/http leaves this to the handler.
// The frames of HTTP/2 mark the end of a body.
func (x *exchange) hangUp() {
	if x.in.ProtoMajor == 1 && x.body.isUnfinished() {
		x.w.Header().Set("Connection", "close")
	}
}

// readWhole reads a response of known length before the client receives any of it.
func (x *exchange) readWhole(res *http.Response, begun weir.Outcome) error {
	var err error
	x.whole.memory = &x.shared.memory
	for err == nil && x.whole.size < res.ContentLength {
		room := x.whole.room()
		if room == nil { // the rest is streamed
			return x.becomeStream(x.routeStreams, begun)
		}
		var n int
		n, err = res.Body.Read(room[:min(int64(len(room)), res.ContentLength-x.whole.size)])
		x.whole.filled(n)
	}
	if err == nil { // trailers arrive with the end
		err = atEnd(res.Body)
	}
	if errors.Is(err, io.EOF) && x.whole.size < res.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if !errors.Is(err, io.EOF) {
		x.settle(x.outcome(err))
		return err
	}
	x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
	x.closeSource()
	return nil
}

// closeSource closes the body of the response, and ends the request at the upstream.
func (x *exchange) closeSource() {
	if x.source != nil {
		if x.body.isUnfinished() { // otherwise a transport would wait for the rest
			x.cancel(errOver)
		}
		_ = x.source.Close()
		x.source = nil
		x.sent()
	}
}

var errLonger = errors.New("the response is longer than it says")

// atEnd returns io.EOF if the body ends here.
func atEnd(body io.Reader) error {
	var one [1]byte
	for {
		if n, err := body.Read(one[:]); n > 0 {
			return errLonger
		} else if err != nil {
			return err
		}
	}
}

// readOn reads a response of unknown length ahead of the client. The client gets the header at
// once, because the client may wait for the header.
func (x *exchange) readOn(res *http.Response, begun weir.Outcome) error {
	toStreams := func() error {
		err := errClientLeft
		if x.ahead.isDropped() {
			x.settle(weir.Ignore)
		} else {
			err = x.becomeStream(x.routeStreams, begun)
		}
		if err != nil {
			x.cancel(err) // so that no one blames the upstream
		}
		return err
	}
	x.ahead = &ahead{src: res.Body, bound: int64(x.Response), over: toStreams, ended: func(err error) {
		if errors.Is(x.in.Context().Err(), context.Canceled) {
			x.left.Store(true)
		}
		if errors.Is(err, io.EOF) {
			x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
			x.closeSource()
			return
		}
		x.settle(x.outcome(err))
		if !errors.Is(err, errOver) {
			x.broke(err)
		}
	}}
	if !x.ahead.start(&x.shared.memory) {
		x.ahead = nil
		return x.becomeStream(x.routeStreams, begun)
	}
	x.after = time.AfterFunc(time.Duration(x.After), func() { _ = toStreams() })
	return nil
}

func (x *exchange) outcome(err error) weir.Outcome {
	switch cause := x.cause(); {
	case errors.Is(cause, weir.ErrExecutionTimeout), errors.Is(cause, context.DeadlineExceeded):
		return weir.Timeout
	case cause != nil: // the client left, or the proxy ends
		return weir.Abandoned
	case upstream.LacksFiles(err):
		return weir.Ignore
	default:
		return edge.ErrorOutcome(context.Background(), err)
	}
}

// broke records the reason for the early end of a response.
func (x *exchange) broke(err error) {
	switch cause := x.cause(); {
	case errors.Is(cause, errClientLeft), errors.Is(cause, errOver):
		return
	case errors.Is(cause, weir.ErrExecutionTimeout):
		err = cause
	case cause != nil:
		x.broken.Store(true)
		return
	}
	x.broken.Store(true)
	x.fault(err)
}
