package weirhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
)

// admit returns the response of a request that is admitted, with its permit.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, gate Gate) (res *response, err error) {
	res = &response{server: w, ResponseWriter: w, ctx: r.Context(), firstByte: h.conf.FirstByte}
	switch {
	case h.conf.Streams == nil:
		res.permit, err = gate.Acquire(r.Context())
	case h.conf.streams(r):
		res.stream, res.firstByte = true, true
		res.permit, err = admitStream(r.Context(), h.conf.Streams, gate)
	default:
		res.held = &held{ResponseWriter: w, res: res, conf: &h.conf, req: r}
		res.ResponseWriter = res.held
		res.permit, err = gate.Acquire(r.Context())
	}
	return res, err
}

// admitStream returns a permit of the streams. The gate is asked too, so that an overloaded server
// begins no streams, but its slot is given back at once: how long a stream takes says nothing of
// the server.
func admitStream(ctx context.Context, streams, gate Gate) (weir.Permit, error) {
	permit, err := streams.Acquire(ctx)
	if err != nil {
		return permit, err
	}
	begun := false
	defer func() {
		if !begun {
			permit.Release()
		}
	}()
	once, err := gate.Acquire(ctx)
	if err != nil {
		return weir.Permit{}, err
	}
	once.Release()
	begun = true
	return permit, nil
}

// streams reports whether a request is a stream by what it says of itself: its body does not fit
// the buffer or has no known length, because it may be one half of a conversation, or the
// connection is to become another protocol's.
func (c Config) streams(r *http.Request) bool {
	return r.ContentLength < 0 || r.ContentLength > int64(c.RequestBuffer) ||
		r.Method == http.MethodConnect || headers.IsUpgrade(r.Header) || headers.IsGRPC(r.Header)
}

// readAhead returns the request with its body read, if it is to be read before the request takes a
// slot. The server's deadline for reading bounds how long that takes.
func (h *handler) readAhead(r *http.Request) (*http.Request, error) {
	if h.conf.Streams == nil || r.ContentLength == 0 || r.Body == nil || h.conf.streams(r) {
		return r, nil
	}
	// It grows as the body comes: a client that only promises one takes no memory.
	body, err := io.ReadAll(io.LimitReader(r.Body, r.ContentLength))
	if err != nil {
		return r, err
	}
	ahead := r.WithContext(r.Context()) // a copy: the server needs its own body
	// The body may go on, where middleware has put a longer one in its place.
	ahead.Body = readBody{io.MultiReader(bytes.NewReader(body), r.Body), r.Body.Close}
	if r.Header.Get("Expect") != "" {
		ahead.Header = r.Header.Clone()
		ahead.Header.Del("Expect") // has been answered
	}
	return ahead, nil
}

// A readBody is a body of which the beginning has been read.
type readBody struct {
	io.Reader
	close func() error
}

func (b readBody) Close() error { return b.close() }

// BodyStatus returns the status that answers a request whose body could not be read because of the
// error: 413 if it was longer than an [http.MaxBytesReader] takes, 408 if its client stalled, 499
// if its client left, and otherwise 400. A nil ctx counts as context.Background.
func BodyStatus(ctx context.Context, err error) int {
	tooLarge, ok := errors.AsType[*http.MaxBytesError](err)
	switch {
	case ok && tooLarge != nil:
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case ctx != nil && errors.Is(ctx.Err(), context.Canceled):
		return statusClientLeft
	default:
		return http.StatusBadRequest
	}
}
