package weirhttp

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
)

// admit returns the response of a request that is admitted, with its slot. An upload is a request
// of whose body more comes than was read ahead.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, admitter weir.Admitter, upload bool) (*response, error) {
	res := &response{server: w, ResponseWriter: w, ctx: r.Context(), firstByte: h.conf.FirstByte}
	switch {
	case h.conf.Streams == nil:
		return res, res.slot.Hold(res.ctx, admitter, nil)
	case headers.IsConversation(r):
		res.firstByte = true
		return res, res.slot.Begin(res.ctx, slot.Of(h.conf.Streams), admitter)
	}
	res.held = &held{ResponseWriter: w, res: res, conf: &h.conf, req: r}
	res.ResponseWriter = res.held
	if connects(r) || headers.IsUpgrade(r.Header) {
		// It takes a slot of the streams once it is one: its handler may ignore the header.
		if err := weir.Full(res.ctx, h.conf.Streams); err != nil {
			return res, err
		}
	}
	if upload {
		return res, h.holdUpload(res, admitter)
	}
	return res, res.slot.Hold(res.ctx, admitter, nil)
}

// connects reports whether the body of a request belongs to another protocol, if its server agrees.
func connects(r *http.Request) bool { return r.Method == http.MethodConnect }

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
