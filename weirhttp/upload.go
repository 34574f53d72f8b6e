package weirhttp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// readAhead reads the body of a request before the request takes a slot, up to the RequestBuffer,
// and reports whether the body is longer. It reads nothing of a body that announces a longer
// length. The server's deadline for reading bounds the time of the call.
func (h *handler) readAhead(server, r *http.Request) (more bool, err error) {
	if r.ContentLength == 0 || connects(r) {
		return false, nil
	}
	bound := int64(h.conf.RequestBuffer)
	if r.ContentLength > bound {
		return true, nil
	}
	most := r.ContentLength
	if most < 0 {
		most = bound + 1
	}
	// The buffer grows as the body comes, so a client that only promises a body takes no memory.
	body, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		return false, err
	}
	// The body may go on, even a body of known length, if middleware has replaced it by a longer
	// one.
	r.Body = &readBody{io.MultiReader(bytes.NewReader(body), r.Body), r.Body, server, r}
	if r.Header.Get("Expect") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Expect") // has been answered
	}
	return int64(len(body)) > bound, nil
}

// A readBody is a body of which the beginning has been read.
type readBody struct {
	io.Reader
	io.Closer
	server, handler *http.Request // the request as each of them has it
}

// Read shows the handler the trailers, which the server learns at the end of the body.
func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		b.handler.Trailer = b.server.Trailer
	}
	return n, err
}

// holdUpload takes a slot of the admitter for an upload, within the part of the limit that all
// uploads have together.
func (h *handler) holdUpload(res *response, admitter weir.Admitter) error {
	var s weir.Snapshot // a zero Snapshot lets one upload in
	if g, ok := admitter.(interface{ Snapshot() weir.Snapshot }); ok {
		s = g.Snapshot()
	}
	// Uploads count by the name of the admitter, because admitters may be made anew for each
	// request.
	if !h.uploads.Take(s.Name, 1, int64(slot.Part(s, h.conf.Uploads)), math.MaxInt64) {
		return &weir.RefusedError{Limiter: "uploads", Reason: weir.ReasonLimitReached}
	}
	return res.slot.Hold(res.ctx, admitter, func() { h.uploads.Give(s.Name, 1) })
}
