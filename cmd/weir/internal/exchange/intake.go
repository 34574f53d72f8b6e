package exchange

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/weir-go/weir/internal/headers"
)

// pause is how long a body of unknown length is read before its request is sent on as a
// stream. A unary gRPC call sends its message with its header, so a longer body is a
// conversation or comes from a slow client. It delays a conversation once, at the beginning.
const pause = 50 * time.Millisecond

// takeIn reads the body ahead, within its bounds. It reports whether the rest must be
// streamed.
func (x *exchange) takeIn() (stream bool, err error) {
	r, b := x.in, &x.body
	b.length, b.buf.memory, b.buf.request = r.ContentLength, &x.shared.memory, true
	b.trailer = maps.Clone(r.Trailer) // the server writes to the request's own map
	defer func() { b.failure = err }()
	if x.route.config.GRPC != "" {
		b.converse()
	}
	most := int64(x.route.config.MaxBody)
	if most > 0 && r.ContentLength > most {
		return false, &http.MaxBytesError{Limit: most} // nothing reads the body, so net/http can before it answers
	}
	b.rest = r.Body
	if most > 0 {
		b.rest = http.MaxBytesReader(x.w, r.Body, most)
	}
	// Otherwise the server would wait for a read of the body before it writes a header.
	b.control = http.NewResponseController(x.w)
	_ = b.control.EnableFullDuplex()
	switch {
	case x.converses && r.Header["Expect"] != nil:
		stream = true // the upstream decides when the client may begin
	case x.converses:
		stream, err = x.takeEarly()
	default:
		stream, err = x.takeAll()
	}
	return stream, err
}

// takeAll reads a body into memory and then into a file. The buffer grows as data arrives, so
// a client that only announces a body takes no memory. The listener bounds stalls and the
// rate of the client.
func (x *exchange) takeAll() (stream bool, err error) {
	b := &x.body
	b.read = true
	for !b.done && err == nil {
		var room []byte
		if b.buf.size < x.request {
			room = b.buf.room()
		}
		if room == nil {
			stream, err = x.spool()
			break
		}
		var n int
		n, err = b.rest.Read(room)
		b.buf.filled(n)
		err = b.came(err)
	}
	if b.done && b.length < 0 {
		b.settle()
	}
	return stream, err
}

// came records whether a read has reached the end of the body, which HTTP/2 sends after the last
// byte. It returns the error of the read otherwise.
func (b *intake) came(err error) error {
	if errors.Is(err, io.EOF) || b.kept() == b.length {
		b.done = true
		return nil
	}
	return err
}

// settle sets the length of a body that has been read whole, unless it has trailers, which
// need chunks.
func (b *intake) settle() {
	b.trailer = maps.Clone(b.client.Trailer) // including unannounced ones
	if len(b.trailer) > 0 {
		return
	}
	b.length = b.kept()
}

// kept returns how much of the body the proxy has read.
func (b *intake) kept() int64 {
	if b.file == nil {
		return b.buf.size
	}
	return b.buf.size + b.file.size
}

// converse ends the minimum rate of the client, because it may now pause between messages.
func (b *intake) converse() {
	if paced, ok := b.client.Body.(interface{ Converse() }); ok {
		paced.Converse()
	}
}

// takeEarly reads the body of a possible conversation for a while. If the body ends
// meanwhile, its length is known.
func (x *exchange) takeEarly() (stream bool, err error) {
	b := &x.body
	settled := make(chan error, 1) // the result, nil if the body does not fit
	settle := func(err error) {
		select {
		case settled <- err:
		default:
		}
	}
	a := &ahead{
		buf: buffer{request: true}, src: b.rest, bound: x.request, ended: settle,
		over: func() error { settle(nil); return nil },
	}
	if !a.start(&x.shared.memory) {
		return true, nil
	}
	b.ahead, b.read, b.rest = a, true, nil
	select {
	case err = <-settled:
	case <-time.After(x.shared.pause):
	case <-x.in.Context().Done():
	}
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, io.EOF):
		return false, err
	}
	b.done = true
	b.trailer = maps.Clone(b.client.Trailer)
	// Trailers need chunks, and a gRPC call has no length.
	if len(b.trailer) == 0 && !headers.IsGRPC(b.client.Header) {
		b.length = a.size()
	}
	if a.size() > 0 {
		b.buf, b.ahead = a.handOver(), nil
	}
	return false, nil
}
