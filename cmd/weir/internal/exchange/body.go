package exchange

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// An intake is the body of a request: the part read before the request took its slot, and the
// rest. A transport may read it after the exchange has ended.
type intake struct {
	client  *http.Request
	rest    io.Reader // from the client, nil if there is none
	ahead   *ahead    // reads a body of unknown length
	length  int64     // of the whole body, -1 if unknown
	left    int64     // unread bytes of the client's body; -1 if unknown
	read    bool      // the proxy has read some of the body, so the client received its 100 Continue
	done    bool      // the client's body has been read to its end
	trailer http.Header

	deadline *deadline  // of an upload, nil for others
	reading  sync.Mutex // held while a transport reads

	mu       sync.Mutex
	buf      buffer
	file     *spool
	inMemory int64   // bytes in memory of a body that can be read again
	last     *copyOf // of such a body, the newest
	finished bool    // the client's body has ended
	failure  error   // of the client's body
	lost     bool    // the file could not be read
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
	out.Body, out.ContentLength, out.Trailer = b, b.length, b.trailer
	if b.length < 0 {
		out.TransferEncoding = b.client.TransferEncoding
	}
	if resends && b.done && b.ahead == nil {
		b.inMemory = b.buf.size
		out.GetBody = func() (io.ReadCloser, error) { return b.again(), nil }
		out.Body = b.again()
	}
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
	case b.deadline != nil:
		b.deadline.during(func() { n, err = b.rest.Read(p) })
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
		b.lost = err != nil
		return n, err
	}
	return 0, nil
}

// ended records the end of the client's body: its trailers or its error.
func (b *intake) ended(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !errors.Is(err, io.EOF) {
		b.failure = err
		return
	}
	b.finished = true
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

// A copyOf is a reader of a whole body, for one try to send it.
type copyOf struct {
	*intake
	read  int64
	ended bool
}

// again returns the body from its beginning, for another try.
func (b *intake) again() *copyOf {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = &copyOf{intake: b}
	return b.last
}

func (c *copyOf) Read(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed, c != c.last: // a transport may still read for a try that ended
		return 0, errStopped
	case c.read < c.inMemory:
		n = c.buf.readAt(p, c.read)
	case c.file != nil:
		n, err = c.file.ReadAt(p, c.read-c.inMemory)
		c.lost = err != nil && !errors.Is(err, io.EOF)
	default:
		err = io.EOF
	}
	c.read += int64(n)
	c.ended = errors.Is(err, io.EOF)
	return n, err
}

// answered frees the memory of a body that is not sent again, since there is a response. A server
// may answer before the last try has read it all.
func (b *intake) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil && b.last.ended {
		b.buf.free()
	}
}

// failed returns the error of reading the client's body, or nil if none is known.
func (b *intake) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// failedAtLast is failed for a client that is gone: it waits for the reader to get the error,
// because the server cancels the request first.
func (b *intake) failedAtLast() error {
	if b.ahead != nil {
		return b.ahead.failure()
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	return b.failed()
}

// isStreaming reports whether a transport reads from the client directly.
func (b *intake) isStreaming() bool { return b.rest != nil && !b.done }

// isUnfinished reports whether the client's body has not been read to its end.
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
