package exchange

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/weirhttp"
)

// receive decides about the slot once the header of the response has arrived.
func (x *exchange) receive(res *http.Response) (*http.Response, error) {
	x.status, x.source = res.StatusCode, res.Body
	x.record(res)
	x.restore()
	x.body.converse()
	weirhttp.TellWait(res.Header, x.permit)
	x.hangUp()
	begun := x.teaches(res.StatusCode, nil, nil)
	if begun == weir.Overloaded {
		x.comeBack, _ = headers.RetryAfter(res.Header, time.Now())
	}
	var err error
	switch length := res.ContentLength; {
	case !x.slot.isHeld(): // already a stream
		x.timeout.Stop()
		x.pass(res)
	case res.StatusCode == http.StatusSwitchingProtocols: // not requested, so ReverseProxy refuses it
		x.settle(weir.Failure)
	case length == 0, res.Body == http.NoBody, x.in.Method == http.MethodHead:
		x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
	case headers.IsEvents(res.Header):
		err = x.becomeStream(x.shared.events, begun)
		x.pass(res)
	case length > x.response:
		err = x.becomeStream(x.shared.streams, begun)
		x.pass(res)
	case length > 0:
		err = x.readWhole(res, begun)
	default:
		res, err = x.readOn(res, begun)
	}
	if err == nil && errors.Is(x.in.Context().Err(), context.Canceled) && res.StatusCode != http.StatusSwitchingProtocols {
		err = errClientLeft
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// teaches returns the outcome of a response. Most 429s are quotas of one key, unless the
// route says that they are not.
func (x *exchange) teaches(status int, header, trailer http.Header) weir.Outcome {
	if status == http.StatusTooManyRequests && x.route.config.Pushback {
		return weir.Overloaded
	}
	return weirhttp.ResponseOutcome(status, header, trailer)
}

// record records the origin of the response for the log.
func (x *exchange) record(res *http.Response) {
	client.Answered(res.Header)
	if x.who != nil {
		x.who.Record.Upstream = res.Request.URL.Host
		x.who.Record.Waited = x.permit.Waited()
	}
}

// restore sets the headers of the layers above again, because ReverseProxy removes them with
// each informational response.
func (x *exchange) restore() {
	h := x.w.Header()
	if x.who != nil && h[client.RequestIDHeader] == nil {
		h[client.RequestIDHeader] = []string{x.who.RequestID}
	}
	if x.closes {
		h.Set("Connection", "close")
	}
}

// readWhole reads a response of known length before the client receives any of it.
func (x *exchange) readWhole(res *http.Response, begun weir.Outcome) error {
	var err error
	for err == nil && x.whole.size < res.ContentLength {
		room := x.whole.room()
		if room == nil { // the rest is streamed
			x.pass(res)
			res.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(&x.whole, res.Body), res.Body}
			return x.becomeStream(x.shared.streams, begun)
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
	res.Body.Close()
	res.Body = io.NopCloser(&x.whole)
	return nil
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

// pass forwards a stream's response.
func (x *exchange) pass(res *http.Response) {
	if res.StatusCode != http.StatusSwitchingProtocols { // with 101, the body is a connection
		res.Body = passing{res.Body, x}
	}
}

// passing is the body of a stream. It records failures of the upstream.
type passing struct {
	io.ReadCloser
	x *exchange
}

func (p passing) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		p.x.broke(err)
	}
	return n, err
}

// broke records the reason for the early end of a response.
func (x *exchange) broke(err error) {
	switch cause := context.Cause(&x.ctx); {
	case errors.Is(cause, errClientLeft), errors.Is(cause, errOver):
		return
	case errors.Is(cause, weir.ErrExecutionTimeout):
		err = cause
	case cause != nil:
		x.slot.breakOff()
		return
	}
	x.slot.breakOff()
	x.shared.onFault(err)
}

// readOn reads a response of unknown length ahead of the client. The client gets the header
// at once, because it may wait for it.
func (x *exchange) readOn(res *http.Response, begun weir.Outcome) (*http.Response, error) {
	toStreams := func() error {
		if x.ahead.isDropped() {
			x.settle(weir.Ignore)
			x.cancel(errClientLeft)
			return errClientLeft
		}
		return x.becomeStream(x.shared.streams, begun)
	}
	// ReverseProxy changes the header meanwhile.
	header := http.Header{"Content-Type": res.Header["Content-Type"], "Grpc-Status": res.Header["Grpc-Status"]}
	a := &ahead{src: res.Body, bound: x.response, over: toStreams, ended: func(err error) {
		if errors.Is(x.in.Context().Err(), context.Canceled) {
			x.slot.setLate()
		}
		if errors.Is(err, io.EOF) {
			if !x.body.isUnfinished() { // otherwise a transport would wait for it
				_ = res.Body.Close()
			}
			x.settle(x.teaches(res.StatusCode, header, res.Trailer))
			return
		}
		x.settle(x.outcome(err))
		if !errors.Is(err, errStopped) {
			x.broke(err)
		}
	}}
	x.ahead = a
	if readAhead(a, &x.shared.memory) == nil {
		x.ahead = nil
		x.pass(res)
		return res, x.becomeStream(x.shared.streams, begun)
	}
	x.after = time.AfterFunc(x.setting.after, func() {
		if err := toStreams(); err != nil {
			x.cancel(err)
		}
	})
	to := *res // a copy, because the goroutine writes trailers to the upstream's response
	to.Trailer = maps.Clone(res.Trailer)
	to.Body = &aheadBody{ahead: a, from: res, to: &to}
	return &to, nil
}

// aheadBody is the body that ReverseProxy reads of a response read ahead.
type aheadBody struct {
	*ahead
	from, to *http.Response
}

func (b *aheadBody) Read(p []byte) (int, error) {
	n, err := b.ahead.Read(p)
	if errors.Is(err, io.EOF) {
		b.to.Trailer = b.from.Trailer
	}
	return n, err
}

// Close does nothing. The end of the exchange ends the reading.
func (b *aheadBody) Close() error { return nil }
