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

// admit takes a slot for a request. An upload is a request whose body is longer than the part that
// was read ahead.
func (h *handler) admit(res *response, r *http.Request, admitter weir.Admitter, upload bool) error {
	switch {
	case res.held == nil && h.conf.Streams != nil:
		res.firstByte = true
		return res.slot.Begin(res.ctx, slot.Of(h.conf.Streams), admitter)
	case res.held != nil && (connects(r) || headers.IsUpgrade(r.Header)):
		// The request takes a slot of the streams only when it becomes a stream, because its
		// handler may ignore the header.
		if err := weir.Full(res.ctx, h.conf.Streams); err != nil {
			return err
		}
	}
	if upload {
		return h.holdUpload(res, admitter)
	}
	return res.slot.Hold(res.ctx, admitter, nil)
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
