package exchange

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
	"github.com/weir-go/weir/weirhttp"
)

// receive decides about the slot once the header of the response has arrived, before the client
// receives any of it. The header of the response does not change any more after receive.
func (x *exchange) receive(res *http.Response) error {
	x.status = res.StatusCode
	client.Answered(res.Header)
	headers.TellWait(res.Header, x.slot.Waited())
	x.who.Record.Upstream, x.who.Record.Waited = res.Request.URL.Host, x.slot.Waited()
	x.body.converse()
	x.hangUp()
	if res.StatusCode == http.StatusSwitchingProtocols {
		x.timeout.Stop()
		x.settle(weir.Failure) // a slot that is held did not ask for it
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
		x.timeout.Stop()
	case length == 0, res.Body == http.NoBody, x.in.Method == http.MethodHead:
		x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
	case headers.IsEvents(res.Header):
		err = x.becomeStream(slot.Of(x.shared.events), begun)
	case length > x.response:
		err = x.becomeStream(x.routeStreams, begun)
	case length > 0:
		err = x.readWhole(res, begun)
	default:
		err = x.readOn(res, begun)
	}
	if err == nil && errors.Is(x.in.Context().Err(), context.Canceled) {
		err = errClientLeft
	}
	return err
}

// teaches returns the outcome of a response. Most 429s are quotas of one key, unless the
// route says that they are not.
func (x *exchange) teaches(status int, header, trailer http.Header) weir.Outcome {
	if status == http.StatusTooManyRequests && x.route.config.Pushback {
		return weir.Overloaded
	}
	return weirhttp.ResponseOutcome(status, header, trailer)
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

// readOn reads a response of unknown length ahead of the client. The client gets the header
// at once, because it may wait for it.
func (x *exchange) readOn(res *http.Response, begun weir.Outcome) error {
	toStreams := func() error {
		if x.ahead.isDropped() {
			x.settle(weir.Ignore)
			x.cancel(errClientLeft)
			return errClientLeft
		}
		return x.becomeStream(x.routeStreams, begun)
	}
	x.ahead = &ahead{src: res.Body, bound: x.response, over: toStreams, ended: func(err error) {
		if errors.Is(x.in.Context().Err(), context.Canceled) {
			x.left.Store(true)
		}
		if errors.Is(err, io.EOF) {
			if !x.body.isUnfinished() { // otherwise a transport would wait for it
				x.closeSource()
			}
			x.settle(x.teaches(res.StatusCode, res.Header, res.Trailer))
			return
		}
		x.settle(x.outcome(err))
		if !errors.Is(err, errStopped) {
			x.broke(err)
		}
	}}
	if !x.ahead.start(&x.shared.memory) {
		x.ahead = nil
		return x.becomeStream(x.routeStreams, begun)
	}
	x.after = time.AfterFunc(x.setting.after, func() {
		if err := toStreams(); err != nil {
			x.cancel(err)
		}
	})
	return nil
}

// broke records the reason for the early end of a response.
func (x *exchange) broke(err error) {
	switch cause := context.Cause(x.ctx); {
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

// copy sends the response to the client. It panics with [http.ErrAbortHandler] if it cannot
// send all of it, which cuts the connection, or the stream of HTTP/2.
func (x *exchange) copy(res *http.Response) {
	h := x.w.Header()
	addAll(h, res.Header)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // otherwise net/http guesses one from the body
	}
	if res.StatusCode == http.StatusNoContent {
		delete(h, "Content-Length") // clients of HTTP/2 would wait for that body
	}
	if len(x.announced) > 0 {
		h.Add("Trailer", strings.Join(x.announced, ", "))
	}
	x.w.WriteHeader(res.StatusCode)
	x.copyBody(res)
	trailer := res.Trailer
	if len(trailer) == 0 {
		return
	}
	// Otherwise net/http could send a length in place of the trailers.
	_ = http.NewResponseController(x.w).Flush()
	if len(trailer) == len(x.announced) {
		addAll(h, trailer)
		return
	}
	for name, values := range trailer {
		h[http.TrailerPrefix+name] = values
	}
}

func addAll(h, more http.Header) {
	for name, values := range more {
		if given := h[name]; given != nil {
			values = append(given[:len(given):len(given)], values...)
		}
		h[name] = values
	}
}

// copyBody sends what was read of the body, and then the rest as it comes.
func (x *exchange) copyBody(res *http.Response) {
	if _, err := x.whole.WriteTo(x.w); err != nil {
		panic(http.ErrAbortHandler)
	}
	switch {
	case x.ahead != nil:
		x.copyRest(x.ahead, true)
	case x.source != nil && x.source != http.NoBody && x.in.Method != http.MethodHead:
		x.copyRest(x.source, res.ContentLength < 0 || headers.IsEvents(res.Header))
		x.closeSource() // now, for the trailers
	}
}

// copyRest copies a body to its end. With flush, the client gets each piece at once.
func (x *exchange) copyRest(from io.Reader, flush bool) {
	control := http.NewResponseController(x.w)
	if flush && !x.ahead.isReady() { // the client may wait for the header
		_ = control.Flush()
	}
	page := copies.Get()
	defer copies.Put(page)
	for {
		n, err := from.Read(page)
		if n > 0 {
			if _, err := x.w.Write(page[:n]); err != nil {
				panic(http.ErrAbortHandler)
			}
			if flush {
				_ = control.Flush()
			}
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			return
		case x.ahead == nil: // otherwise its goroutine has recorded it
			x.broke(err)
		}
		panic(http.ErrAbortHandler)
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
