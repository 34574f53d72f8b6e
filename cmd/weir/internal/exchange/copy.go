package exchange

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/weir-go/weir/internal/headers"
)

// copy sends the response to the client. It panics with [http.ErrAbortHandler] if it cannot send
// the whole response, which cuts the connection, or the stream of HTTP/2.
func (x *exchange) copy(res *http.Response) {
	x.hangUp()
	h := x.w.Header()
	addAll(h, res.Header)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // otherwise net/http guesses one from the body
	}
	if res.StatusCode == http.StatusNoContent {
		delete(h, "Content-Length") // clients of HTTP/2 would wait for that body
	}
	// Trailers of HTTP/1.1 follow chunks. A response that is still read ahead has no length.
	if x.ahead == nil && len(res.Trailer) > 0 && x.in.ProtoMajor == 1 && x.in.ProtoMinor > 0 && x.in.Method != http.MethodHead {
		delete(h, "Content-Length")
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
	// Without this flush net/http could send a length in place of the trailers.
	_ = http.NewResponseController(x.w).Flush()
	prefix := http.TrailerPrefix
	if len(trailer) == len(x.announced) {
		prefix = ""
	}
	for name, values := range trailer {
		delete(h, name)      // a header of this name is sent
		if len(values) > 0 { // otherwise net/http would not end a stream of HTTP/2
			h[prefix+name] = values
		}
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

// copyBody sends the part of the body that was read, and then the rest as it comes.
func (x *exchange) copyBody(res *http.Response) {
	if _, err := x.whole.WriteTo(x.w); err != nil {
		panic(http.ErrAbortHandler)
	}
	switch {
	case x.ahead != nil:
		x.copyRest(x.ahead, true)
	case x.source != nil && x.hasBody(res):
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
	page := copies.Get().(*[copySize]byte)
	defer copies.Put(page)
	for {
		n, err := from.Read(page[:])
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
var copies = sync.Pool{New: func() any { return new([copySize]byte) }}

const copySize = 32 << 10
