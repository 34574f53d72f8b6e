package exchange

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// An intake is the body of a request: the part read before the request took its slot, in memory
// and in a file, and the rest. A transport may read it after the exchange has ended.
type intake struct {
	client   *http.Request
	control  *http.ResponseController // of the client, nil unless the proxy reads the body
	rest     io.Reader                // from the client, nil if there is none
	ahead    *ahead                   // reads a body of unknown length
	length   int64                    // of the whole body, -1 if unknown
	read     bool                     // the proxy has read some of the body, so the client received its 100 Continue
	trailer  http.Header
	deadline *deadline // of an upload, nil for others

	turn sync.Mutex // held while rest is read

	mu       sync.Mutex
	buf      buffer
	file     *spool
	inMemory int64 // bytes that the buffer had, which may be free by now
	resends  bool  // a transport may read the body again
	last     *attempt
	begun    bool  // a transport has read some of it
	done     bool  // the client's body has been read to its end
	failure  error // of the client's body
	lost     bool  // the file could not be read
	over     bool  // no transport takes more of it
	replied  bool  // there is a response
	cut      bool  // a Read has a deadline, at which the server takes the client for gone
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

func (a *attempt) Read(p []byte) (n int, err error) {
	if n, err = a.readStart(p); n > 0 || err != nil {
		return n, err
	}
	if a.ahead != nil {
		n, err = a.ahead.Read(p)
	} else {
		n, err = a.readRest(p)
		a.passed(n)
	}
	return n, a.ended(err)
}

// readRest reads from the client, one reader at a time: a transport may still read when the
// exchange ends.
func (b *intake) readRest(p []byte) (n int, err error) {
	b.turn.Lock()
	defer b.turn.Unlock()
	if b.deadline == nil {
		return b.rest.Read(p)
	}
	b.deadline.during(func() { n, err = b.rest.Read(p) })
	return n, err
}

// passed notes the end of a body of known length at its last byte: its upstream may answer before
// a transport reads further.
func (a *attempt) passed(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.offset += int64(n)
	a.done = a.done || a.offset == a.length
}

// Close is called by a transport that takes no more of the body. It ends a Read that waits for the
// client, because the transport returns no error before. A body that no transport has read stays
// open for another address.
func (a *attempt) Close() error {
	a.mu.Lock()
	begun := a.begun && a == a.last
	a.mu.Unlock()
	if begun {
		a.abandon()
	}
	return nil
}

// abandon ends the sending of the body. Until there is a response, a transport waits for its Read,
// so that has a deadline.
func (b *intake) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed, b.over, b.done && b.ahead == nil:
		return
	case b.ahead != nil:
		b.ahead.drop()
	case !b.replied:
		b.cut = true
		_ = b.control.SetReadDeadline(time.Now().Add(linger))
	}
	b.over = true
}

// isCut reports whether the server takes the client for gone although it may be there.
func (b *intake) isCut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cut
}

// linger is how long a client may keep sending a body after its response: net/http waits as
// long before it closes such a connection.
const linger = 500 * time.Millisecond

// readStart reads the part that the proxy has read. At its end it returns nothing, or io.EOF if
// that is the end of the body.
func (a *attempt) readStart(p []byte) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = true
	switch {
	case a.over:
		return 0, errNotTaken
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
	b.replied = true
	b.resends = false
	if b.cut { // HTTP/2 leaves the body before it returns the response
		b.cut = false
		_ = b.control.SetReadDeadline(time.Time{})
	}
	b.freeSent()
}

// ended records the end of the client's body: its trailers or its error. It returns the error that
// a transport gets for the body.
func (b *intake) ended(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.done = true
		for name := range b.trailer { // the announced trailers
			b.trailer[name] = b.client.Trailer[name]
		}
	case b.over: // the client is not to blame
		return errNotTaken
	default:
		b.failure = err
	}
	return err
}

var errNotTaken = errors.New("the server ended the request before it had read the body")

// fail records an error of the client.
func (b *intake) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure = err
}

// failed returns the error of reading the client's body, or nil if none is known.
func (b *intake) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// drain reads the rest of the body that the client still sends, for a while, because a reset would
// overtake the response.
func (b *intake) drain() {
	b.mu.Lock()
	sends := b.read || b.begun || b.client.Header["Expect"] == nil
	b.mu.Unlock()
	if !sends {
		return
	}
	_ = b.control.SetReadDeadline(time.Now().Add(linger))
	b.turn.Lock()
	defer b.turn.Unlock()
	_, _ = io.Copy(io.Discard, b.rest)
}

// isStreaming reports whether a transport has more to read from the client directly.
func (b *intake) isStreaming() bool { return b.rest != nil && b.isUnfinished() }

// isUnfinished reports whether the proxy reads the client's body, and has not read it to its end.
func (b *intake) isUnfinished() bool {
	if b.control == nil {
		return false
	}
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
