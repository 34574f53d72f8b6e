package exchange

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// An intake is the body of a request: the part read before the request took its slot, in memory
// and in a file, and the rest. A transport may read it after the exchange has ended.
type intake struct {
	client   *http.Request
	rest     io.Reader // from the client, nil if there is none
	ahead    *ahead    // reads a body of unknown length
	length   int64     // of the whole body, -1 if unknown
	read     bool      // the proxy has read some of the body, so the client received its 100 Continue
	trailer  http.Header
	deadline *deadline // of an upload, nil for others

	mu       sync.Mutex
	buf      buffer
	file     *spool
	inMemory int64 // bytes that the buffer had, which may be free by now
	resends  bool  // a transport may read the body again
	last     *attempt
	done     bool  // the client's body has been read to its end
	failure  error // of the client's body
	lost     bool  // the file could not be read
	closed   bool
}

// put makes b the body of the request to the upstream. With resends, a transport can read a
// complete body again from its beginning.
func (b *intake) put(out *http.Request, resends bool) {
	if b.read {
		delete(out.Header, "Expect") // already answered
	}
	if b.length == 0 || b.rest == nil && b.ahead == nil && b.buf.size == 0 {
		return
	}
	b.inMemory, b.resends = b.buf.size, resends && b.done && b.ahead == nil
	out.Body, out.ContentLength, out.Trailer = b.again(), b.length, b.trailer
	if b.length < 0 {
		out.TransferEncoding = b.client.TransferEncoding
	}
	if b.resends {
		out.GetBody = func() (io.ReadCloser, error) { return b.again(), nil }
	}
}

// An attempt reads the body for one try to send it.
type attempt struct {
	*intake
	offset int64 // in the part that the proxy has read
}

// again returns the body from its beginning.
func (b *intake) again() *attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = &attempt{intake: b}
	return b.last
}

func (a *attempt) Read(p []byte) (int, error) {
	n, err := a.readStart(p)
	switch {
	case n > 0 || err != nil:
		return n, err
	case a.ahead != nil:
		n, err = a.ahead.Read(p)
	case a.deadline != nil:
		a.deadline.during(func() { n, err = a.rest.Read(p) })
	default:
		n, err = a.rest.Read(p)
	}
	if err != nil {
		a.ended(err)
	}
	return n, err
}

// readStart reads the part that the proxy has read. At its end it returns nothing, or io.EOF if
// that is the end of the body.
func (a *attempt) readStart(p []byte) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed, a != a.last: // a transport may still read for a try that ended
		return 0, errStopped
	case a.offset < a.inMemory:
		n = a.buf.readAt(p, a.offset)
	case a.file != nil && a.offset < a.inMemory+a.file.size:
		n, err = a.file.readAt(p, a.offset-a.inMemory)
		a.lost = err != nil
	case a.done:
		err = io.EOF
	}
	a.offset += int64(n)
	a.freeSent()
	return n, err
}

// freeSent frees the memory of a body that has been read and is not sent again. The lock is held.
func (b *intake) freeSent() {
	if !b.resends && b.last != nil && b.last.offset >= b.inMemory {
		b.buf.free()
	}
}

// answered ends the time in which the body may be sent again, since there is a response. A server
// may answer before the last try has read it all.
func (b *intake) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resends = false
	b.freeSent()
}

// ended records the end of the client's body: its trailers or its error.
func (b *intake) ended(err error) {
	if !errors.Is(err, io.EOF) {
		b.fail(err)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	for name := range b.trailer { // the announced trailers
		b.trailer[name] = b.client.Trailer[name]
	}
}

// fail records an error of the client.
func (b *intake) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure = err
}

// Close does nothing. The exchange frees the body.
func (b *intake) Close() error { return nil }

// failed returns the error of reading the client's body, or nil if none is known.
func (b *intake) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// isStreaming reports whether a transport has more to read from the client directly.
func (b *intake) isStreaming() bool { return b.rest != nil && b.isUnfinished() }

// isUnfinished reports whether the client's body has not been read to its end.
func (b *intake) isUnfinished() bool {
	if b.ahead != nil {
		return !b.ahead.isWhole()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.done
}

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
