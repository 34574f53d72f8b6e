package exchange

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/headers"
)

// pause is how long a body of unknown length is read before its request goes on as a stream. A
// unary call of gRPC sends its message with its header, so what takes longer is a conversation, or
// a client that is slow. A conversation is late by this once, when it begins.
const pause = 50 * time.Millisecond

// An intake is the body of a request: what has been read of it before the request took its slot,
// and the rest. A transport may read it after the exchange is over.
type intake struct {
	client  *http.Request
	rest    io.Reader // of the client, nil if there is none
	ahead   *ahead    // reads a body of unknown length
	length  int64     // of the whole, -1 if it is unknown
	left    int64     // of it, to be read of the client; -1 if that is unknown
	read    bool      // something was read before, so the client has been told to go on
	done    bool      // there is no more to read of the client
	trailer http.Header

	reading sync.Mutex // held while a transport reads

	mu       sync.Mutex
	buf      buffer
	file     *spool
	finished bool  // the client's body has come to its end
	failure  error // of the client
	closed   bool
	to       *http.Request // gets the trailers
}

// takeIn reads the body ahead, as far as it may. It reports whether the rest has to be streamed.
func (x *exchange) takeIn() (stream bool, err error) {
	r, b := x.in, &x.body
	b.client, b.length, b.left, b.buf.memory = r, r.ContentLength, r.ContentLength, &x.shared.memory
	b.buf.request, b.trailer = true, r.Trailer
	if x.route.config.GRPC != "" {
		b.converse()
	}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		b.done = true
		return false, nil
	}
	most := int64(x.route.config.MaxBody)
	if most > 0 && r.ContentLength > most {
		return false, &http.MaxBytesError{Limit: most} // nothing reads the body, so that net/http can before it answers
	}
	b.rest = r.Body
	switch {
	case r.ContentLength > 0 && r.ProtoMajor == 1:
		// A transport looks for the end beyond it, while the server may have closed the body
		// because the answer begins.
		b.rest = io.LimitReader(r.Body, r.ContentLength)
	case most > 0:
		b.rest = http.MaxBytesReader(x.w, r.Body, most)
	}
	talks := x.converses && (r.ContentLength < 0 || x.route.config.Body == bodyStreams)
	switch {
	case r.Method == http.MethodConnect, x.upgrade:
		stream = true
	case talks && r.Header["Expect"] != nil:
		stream = true // the upstream says when the client may begin
	case talks:
		stream, err = x.takeEarly()
	default:
		stream, err = x.takeAll()
	}
	return stream, err
}

// takeAll reads a body into memory and then into a file. The buffer grows as the body comes: a
// client that only promises one takes no memory. The listener bounds how long a client may stall,
// and how slowly it may send.
func (x *exchange) takeAll() (stream bool, err error) {
	b := &x.body
	b.read = true
	if b.length < 0 {
		b.trailer = maps.Clone(b.client.Trailer) // because the server writes to that of the request
	}
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
		n, err = b.rest.Read(room[:b.most(int64(len(room)))])
		b.buf.filled(n)
		err = b.came(n, err)
	}
	if b.done && b.length < 0 {
		b.settle()
	}
	return stream, err
}

// most returns how many of n bytes may be read of the client.
func (b *intake) most(n int64) int64 {
	if b.left < 0 {
		return n
	}
	return min(n, b.left)
}

// came takes in how a read went, and returns why the body failed.
func (b *intake) came(n int, err error) error {
	if b.left >= 0 {
		if b.left -= int64(n); b.left == 0 {
			b.done = true
			return nil
		}
		return short(err)
	}
	if errors.Is(err, io.EOF) {
		b.done = true
		return nil
	}
	return err
}

// settle tells the length of a body that has come whole. Trailers need chunks.
func (b *intake) settle() {
	b.trailer = maps.Clone(b.client.Trailer) // with those that were not announced
	if len(b.trailer) > 0 {
		return
	}
	b.length = b.buf.size
	if b.file != nil {
		b.length += b.file.size
	}
}

// converse lets the client send as slowly as a conversation may go.
func (b *intake) converse() {
	if paced, ok := b.client.Body.(interface{ Converse() }); ok {
		paced.Converse()
	}
}

// short returns the error of a body that ends before its length.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// takeEarly reads the body of what may be a conversation for a while. If it ends meanwhile, its
// length is known.
func (x *exchange) takeEarly() (stream bool, err error) {
	b := &x.body
	announced := maps.Clone(b.client.Trailer) // because the server writes to that of the request
	settled := make(chan error, 1)            // how it ended, nil if it does not fit
	settle := func(err error) {
		select {
		case settled <- err:
		default:
		}
	}
	a := readAhead(&ahead{
		buf: buffer{request: true}, src: b.rest, bound: x.request, ended: settle,
		over: func() error { settle(nil); return nil },
	}, &x.shared.memory)
	if a == nil {
		return true, nil
	}
	b.trailer = announced
	b.ahead, b.read, b.rest = a, true, nil
	// The server would wait for the goroutine before it writes a header.
	_ = http.NewResponseController(x.w).EnableFullDuplex()
	timer := time.NewTimer(x.shared.pause)
	defer timer.Stop()
	select {
	case err = <-settled:
	case <-timer.C:
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
	// Trailers need chunks, and a call of gRPC has no length.
	if len(b.trailer) == 0 && !headers.IsGRPC(b.client.Header) {
		b.length = a.size()
	}
	return false, nil
}

// put makes b the body of the request to the upstream.
func (b *intake) put(r *http.Request) {
	if b.rest == nil && b.ahead == nil && b.buf.size == 0 {
		return
	}
	r.Trailer = b.trailer
	if r.ContentLength = b.length; b.length >= 0 {
		r.TransferEncoding = nil
	}
	r.Body = b
	if b.length == 0 {
		r.Body = http.NoBody
	}
}

// rewrite has the request to the upstream say what is true of its body.
func (b *intake) rewrite(out *http.Request) {
	if b.read {
		out.Header.Del("Expect") // has been answered
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = out
}

func (b *intake) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if n, err := b.readBuffers(p); n > 0 || err != nil {
		return n, err
	}
	var n int
	var err error
	switch {
	case b.ahead != nil:
		n, err = b.ahead.Read(p)
	case b.done:
		err = io.EOF
	default:
		n, err = b.rest.Read(p)
	}
	if err != nil {
		b.ended(err)
	}
	return n, err
}

func (b *intake) readBuffers(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, errStopped
	case b.buf.size > 0:
		return b.buf.read(p), nil
	case b.file != nil:
		n, err := b.file.Read(p)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return n, err
	}
	return 0, nil
}

// ended notes the end of the client's body: its trailers, or why it failed.
func (b *intake) ended(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, errStopped):
	case !errors.Is(err, io.EOF):
		b.failure = err
	default:
		b.finished = true
		for name := range b.to.Trailer { // those that were announced
			b.to.Trailer[name] = b.client.Trailer[name]
		}
	}
}

// Close leaves it to the exchange to give back what the body takes.
func (b *intake) Close() error { return nil }

// failed returns why the client's body could not be read, nil if nothing of that is known.
func (b *intake) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// failedAtLast is failed of a client that is gone: the server gives its request up before it
// returns the error to the reader.
func (b *intake) failedAtLast() error {
	if b.ahead != nil {
		return b.ahead.failure()
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	return b.failed()
}

// isStreaming reports whether a transport reads of the client itself.
func (b *intake) isStreaming() bool { return b.rest != nil && !b.done }

// isUnfinished reports whether the client has not sent its whole body, as far as anything was read
// of that.
func (b *intake) isUnfinished() bool {
	if b.done {
		return false
	}
	if b.ahead != nil {
		return !b.ahead.isWhole()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.finished
}

// close gives back what the body takes.
func (b *intake) close() {
	if b.ahead != nil {
		b.ahead.close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.buf.free()
	if b.file != nil {
		b.file.close()
	}
}
