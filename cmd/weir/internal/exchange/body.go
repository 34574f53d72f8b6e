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
	length   int64                    // of the whole body, -1 if unknown
	streams  bool                     // the rest is sent as it comes
	trailer  http.Header
	deadline *deadline // of an upload, nil for other requests

	turn sync.Mutex // held while rest is read

	mu       sync.Mutex
	buf      buffer
	file     *spool
	most     int64 // bytes to read into the buffer
	inMemory int64 // bytes that came into the buffer, which may be free by now
	filling  bool  // takeEarly reads into the buffer
	resends  bool  // a transport may read the body again
	last     *attempt
	asked    bool  // a read of the body has returned, or the client has otherwise received its 100 Continue
	begun    bool  // a transport has read some of the body
	done     bool  // the client's body has been read to its end
	failure  error // of the client's body
	lost     bool  // the file could not be read
	over     bool  // no transport takes more of the body
	stage    stage
}

// A stage is the progress of the request that has the body.
type stage uint8

const (
	unanswered stage = iota
	cut              // unanswered, and a Read has a deadline, at which the server takes the client for gone
	answered
	closed
)

// put makes b the body of the request to the upstream. With resends, a transport can read a
// complete body again from its beginning.
func (b *intake) put(out *http.Request, resends bool) {
	if b.isAsked() {
		delete(out.Header, "Expect") // already answered
	}
	if b.length == 0 {
		return
	}
	b.resends = resends && !b.streams
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
	offset int64
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
	// The turn admits one reader at a time: a transport may still read when the exchange ends.
	a.turn.Lock()
	defer a.turn.Unlock()
	if n, err = a.readStart(p); n > 0 || err != nil { // takeEarly had the turn
		return n, err
	}
	if a.deadline == nil {
		n, err = a.rest.Read(p)
	} else {
		a.deadline.during(func() { n, err = a.rest.Read(p) })
	}
	return n, a.passed(n, err)
}

// readStart reads the part that the proxy has read. At the end of that part it returns no bytes:
// with io.EOF if the body ends there, and with the client's error if there is one.
func (a *attempt) readStart(p []byte) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = true
	switch {
	case a.over:
		return 0, errNotTaken
	case a.stage == closed, a != a.last: // a transport may still read for a try that ended
		return 0, errOver
	case a.offset < a.inMemory:
		n = a.buf.readAt(p, a.offset)
	case a.file != nil && a.offset < a.kept():
		n, err = a.file.readAt(p, a.offset-a.inMemory)
		a.lost = err != nil
	case a.done:
		err = a.end()
	default:
		err = a.failure
	}
	a.offset += int64(n)
	a.freeSent()
	return n, err
}

// passed records a read from the client. A body of known length ends at its last byte: its upstream
// may answer before a transport reads further.
func (a *attempt) passed(n int, err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.offset += int64(n)
	a.done = a.done || a.offset == a.length
	if errors.Is(err, io.EOF) {
		a.done = true
		return a.end()
	}
	return a.came(err)
}

// end sets the announced trailers of a body that streams, and returns io.EOF. The lock is held.
func (b *intake) end() error {
	if b.streams {
		for name := range b.trailer {
			b.trailer[name] = b.client.Trailer[name]
		}
	}
	return io.EOF
}

var errNotTaken = errors.New("the server ended the request before it had read the body")

// Close is called by a transport that takes no more of the body. It ends a Read that waits for the
// client, because the transport returns its error only after that Read. A body that no transport
// has read stays open for another address.
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
// so abandon gives that Read a deadline.
func (b *intake) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stage == closed || b.over || b.done {
		return
	}
	b.over = true
	if b.stage == unanswered {
		b.stage = cut
		wait := linger
		if b.client.ProtoMajor > 1 { // HTTP/2 takes no client for gone
			wait = 0
		}
		_ = b.control.SetReadDeadline(time.Now().Add(wait))
	}
}

// isCut reports whether the server takes the client for gone although it may be there.
func (b *intake) isCut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stage == cut
}

// linger is how long a client may keep sending a body after its response: net/http waits as
// long before it closes such a connection.
const linger = 500 * time.Millisecond

// freeSent frees the memory of a body that has been read and is not sent again. The lock is held.
func (b *intake) freeSent() {
	if !b.resends && !b.filling && b.last != nil && b.last.offset >= b.inMemory {
		b.buf.free()
	}
}

// answered ends the time in which the body may be sent again, since there is a response. A server
// may answer before the last try has read the whole body.
func (b *intake) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stage == cut { // HTTP/2 leaves the body before it returns the response
		_ = b.control.SetReadDeadline(time.Time{})
	}
	b.stage = answered
	b.resends = false
	b.freeSent()
}

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

// drain reads the rest of the body that the client still sends, for the time linger at most.
// Without it a reset of the connection would overtake the response.
func (b *intake) drain() {
	b.mu.Lock()
	sends := b.asked || b.begun || b.client.Header["Expect"] == nil
	b.mu.Unlock()
	if !sends {
		return
	}
	_ = b.control.SetReadDeadline(time.Now().Add(linger))
	b.turn.Lock()
	defer b.turn.Unlock()
	_, _ = io.Copy(io.Discard, b.rest)
}

// isAsked reports whether the client has been asked for its body.
func (b *intake) isAsked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

func (b *intake) setAsked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = true
}

// isUnfinished reports whether the proxy reads the client's body, and has not read it to its end.
func (b *intake) isUnfinished() bool {
	if b.control == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.done
}

// close frees the memory and the file, once no goroutine reads into them.
func (b *intake) close() {
	b.mu.Lock()
	filling := b.filling
	b.stage = closed
	b.mu.Unlock()
	if filling {
		b.turn.Lock()
		defer b.turn.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.free()
	if b.file != nil {
		b.file.close()
	}
}
