package weirhttp

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
)

// admit returns the response of a request that is admitted, with its permit. An upload is a request
// of whose body more comes than was read ahead.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, gate Gate, upload bool) (res *response, err error) {
	res = &response{server: w, ResponseWriter: w, ctx: r.Context(), firstByte: h.conf.FirstByte}
	switch {
	case h.conf.Streams == nil:
		res.permit, err = gate.Acquire(r.Context())
		return res, err
	case converses(r):
		res.stream, res.firstByte = true, true
		res.permit, err = admitStream(r.Context(), h.conf.Streams, gate)
		return res, err
	case upload:
		res.permit, res.part, err = h.admitUpload(r.Context(), gate)
	default:
		res.permit, err = gate.Acquire(r.Context())
	}
	res.held = &held{ResponseWriter: w, res: res, conf: &h.conf, req: r}
	res.ResponseWriter = res.held
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

// converses reports whether the two sides of a request may take turns, by its headers:
// it is of gRPC or a stream of Connect, or its connection is to become another protocol's.
func converses(r *http.Request) bool {
	return r.Method == http.MethodConnect || headers.IsUpgrade(r.Header) || headers.IsConversation(r.Header)
}

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
