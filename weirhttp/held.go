package weirhttp

import (
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
// a client that reads slowly. One that does not fit, or is flushed, becomes a stream: it goes
// through, and takes a slot of the streams in place of that of the admitter.
type held struct {
	http.ResponseWriter // the server's

	res    *response
	conf   *Config
	req    *http.Request
	stop   context.CancelCauseFunc // of the handler's context
	before http.Header             // as the handler found it

	status  int         // 0 until it is written
	header  http.Header // as it was then
	body    []byte
	opened  bool  // it goes through
	refused error // the streams had no slot, and the client has a refusal
}

// hold has the response held back. It returns the request for the handler, a copy because the
// server needs its own body, and what ends the context of that.
func (h *handler) hold(res *response, r *http.Request) (*http.Request, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(r.Context())
	res.held = &held{ResponseWriter: res.server, res: res, conf: &h.conf, req: r, stop: stop}
	res.ResponseWriter = res.held
	return r.WithContext(ctx), stop
}

// WriteHeader passes informational headers on, and holds the final one back, in case that there is
// no slot for the answer.
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
	if !h.opened { // nothing if there is a header
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
		return 0, http.ErrContentLength // sent together, the server would write none of it
	case int64(len(p)) <= h.left():
		h.body = append(h.body, p...)
		return len(p), nil
	}
	if err := h.open(h.res.begun()); err != nil {
		return 0, err
	}
	return h.ResponseWriter.Write(p)
}

// left returns how many more bytes can be held back, -1 if none are any more.
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

// unannounced is the length of a body that may be of any.
const unannounced = math.MaxInt64

// announced returns how long the header says that the body is, once it is written.
func (h *held) announced() int64 {
	length, err := strconv.ParseUint(h.header.Get("Content-Length"), 10, 63)
	if err != nil { // the server drops it
		return unannounced
	}
	return int64(length)
}

// open makes the response a stream, once the work ended with the outcome, unless it is one. Its
// error is the refusal if the streams have no slot.
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
// and by its writes. The client is answered at once with a length, because a handler may go on, or
// abort the connection. There is no Retry-After, because the work has been done: a client that
// repeats whatever comes with Retry-After would have it done twice.
func (h *held) refuse(err error) {
	h.refused, h.body = err, nil
	h.stop(err)
	replace(h.Header(), h.before)
	a := answer{ResponseWriter: h.ResponseWriter, status: http.StatusOK}
	h.conf.answer(&a, h.req, err)
	h.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	h.ResponseWriter.WriteHeader(a.status)
	_, _ = h.ResponseWriter.Write(a.body)
	_ = http.NewResponseController(h.ResponseWriter).Flush()
}

// An answer is gathered, so that its length is known.
type answer struct {
	http.ResponseWriter
	status int
	body   []byte
}

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(p []byte) (int, error) {
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
