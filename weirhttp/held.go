package weirhttp

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// A held response keeps its body until the handler has returned, so that its slot does not wait for
// a client that reads slowly. A response that does not fit, or is flushed, becomes a stream: its
// bytes go to the server's writer, and it takes a slot of the streams in place of the admitter's
// slot.
type held struct {
	http.ResponseWriter // the server's

	res    *response
	conf   *Config
	req    *http.Request
	stop   context.CancelCauseFunc // of the handler's context
	before http.Header             // as the handler found it

	status  int         // 0 until it is written
	header  http.Header // as it was when the status was written
	body    []byte
	opened  bool  // writes go through to the server
	refused error // the streams had no slot, and the client has a refusal
}

// hold holds the response back. It returns the request for the handler, and a function that ends
// the context of that request. The request is a copy, because the server needs its own body.
func (h *handler) hold(res *response, r *http.Request) (*http.Request, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(r.Context())
	res.held = &held{ResponseWriter: res.server, res: res, conf: &h.conf, req: r, stop: stop}
	res.ResponseWriter = res.held
	return r.WithContext(ctx), stop
}

// WriteHeader passes informational headers on. It holds the final header back, because a refusal
// replaces it if the streams have no slot.
func (h *held) WriteHeader(status int) {
	switch {
	case h.refused != nil:
	case h.opened || informs(status) && h.status == 0:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0:
		h.status, h.header = status, h.Header().Clone()
	}
}

func (h *held) Write(p []byte) (int, error) {
	if !h.opened { // does nothing after a first header
		h.WriteHeader(http.StatusOK)
	}
	switch {
	case h.refused != nil:
		return 0, h.refused
	case h.opened:
		return h.ResponseWriter.Write(p)
	case h.status < 200 || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case int64(len(p)) > h.announced()-int64(len(h.body)):
		return 0, http.ErrContentLength // the server would refuse the whole body, sent at once
	case int64(len(p)) <= h.left():
		h.body = append(h.body, p...)
		return len(p), nil
	}
	if err := h.open(h.res.begun()); err != nil {
		return 0, err
	}
	return h.ResponseWriter.Write(p)
}

// left returns how many more bytes can be held back, or -1 once the response is a stream.
func (h *held) left() int64 {
	if h.opened {
		return -1
	}
	bound := int64(h.conf.ResponseBuffer)
	if length := h.announced(); length != unannounced && length > bound {
		return 0 // it will not fit
	}
	return bound - int64(len(h.body))
}

// unannounced is the length of a body whose header announces no valid length.
const unannounced = math.MaxInt64

// announced returns the length of the body by the header that was written.
func (h *held) announced() int64 {
	length, err := strconv.ParseUint(h.header.Get("Content-Length"), 10, 63)
	if err != nil { // the server drops it
		return unannounced
	}
	return int64(length)
}

// open makes the response a stream, unless it is a stream already. The work until now has the
// outcome o. The error is the refusal, if the streams have no slot.
func (h *held) open(o weir.Outcome) error {
	if h.req.Method != http.MethodHead { // a client has no body to read slowly
		if _, err := h.res.slot.Exchange(h.res.ctx, slot.Of(h.conf.Streams), slot.Outcome{Outcome: o}); err != nil {
			h.refuse(err)
			return err
		}
	}
	return h.send()
}

// refuse answers the client that there will be no response, and informs the handler by its context
// and by its writes. The answer goes out at once and has a length, because the handler may go on,
// or abort the connection. It has no Retry-After, because the work has been done: a client that
// repeats each request with a Retry-After would start the work a second time.
func (h *held) refuse(err error) {
	h.refused, h.body = err, nil
	h.stop(err)
	replace(h.Header(), h.before)
	a := answer{ResponseWriter: h.ResponseWriter}
	h.conf.answer(&a, h.req, err)
	h.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	h.ResponseWriter.WriteHeader(cmp.Or(a.status, http.StatusOK))
	_, _ = h.ResponseWriter.Write(a.body)
	_ = http.NewResponseController(h.ResponseWriter).Flush()
}

// An answer collects the response to a refusal, so that its length is known.
type answer struct {
	http.ResponseWriter
	status int // 0 until it is written
	body   []byte
}

func (a *answer) WriteHeader(status int) {
	if informs(status) {
		a.ResponseWriter.WriteHeader(status)
	} else {
		a.status = cmp.Or(a.status, status)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK) // does nothing after a first header
	a.body = append(a.body, p...)
	return len(p), nil
}

// send sends the held response, unless it was refused.
func (h *held) send() error {
	if h.opened || h.refused != nil {
		return h.refused
	}
	h.opened = true
	if h.status == 0 { // nothing was written
		return nil
	}
	// Headers that the handler set since are trailers.
	if now := h.Header(); maps.EqualFunc(now, h.header, slices.Equal) {
		h.ResponseWriter.WriteHeader(h.status)
	} else {
		now = maps.Clone(now)
		replace(h.Header(), h.header)
		h.ResponseWriter.WriteHeader(h.status)
		replace(h.Header(), now)
	}
	body := h.body
	h.body = nil
	if len(body) == 0 {
		return nil
	}
	_, err := h.ResponseWriter.Write(body)
	return err
}

func replace(header, by http.Header) {
	clear(header)
	maps.Copy(header, by)
}
