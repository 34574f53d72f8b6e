package listen

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// body is a request body without the trailers that no upstream may get.
type body struct {
	io.ReadCloser
	conn        *conn
	trailer     http.Header
	underscores bool // allowed in names of trailers
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		dropTrailers(b.trailer, b.underscores)
	}
	return n, err
}

// Converse ends the minimum rate from the next read on, because the client may now pause between
// messages. Only BodyTimeout still applies.
func (b *body) Converse() { b.conn.converse() }

// streamBody is a body of HTTP/2. A connection has many bodies, and net/http reads them ahead.
type streamBody struct {
	body
	control *http.ResponseController
	reading watch

	mu     sync.Mutex
	pace   pace
	left   int64 // unread bytes, -1 if the length is unknown
	over   bool  // the proxy expects nothing more from the client
	unread bool  // counted in conn.unread
}

func newStreamBody(b body, length int64, w http.ResponseWriter) *streamBody {
	made := &streamBody{body: b, control: http.NewResponseController(w), left: length}
	made.setUnread(true)
	return made
}

func (b *streamBody) Read(p []byte) (int, error) {
	b.begin()
	n, err := b.body.Read(p)
	b.end(n, err)
	return n, err
}

// begin begins a read, which waits for the client unless the body is over.
func (b *streamBody) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.setUnread(false)
	b.reading.begin(b.pace.left(b.conn.listener.live.Load()), b)
}

func (b *streamBody) end(n int, err error) {
	waited := b.reading.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace.add(waited, n, b.conn.listener.live.Load())
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.over = b.over || err != nil
	b.setUnread(true)
}

// setUnread counts, in the connection, a body that may have data the proxy has not read. The lock
// is held, or the body is new.
func (b *streamBody) setUnread(unread bool) {
	unread = unread && !b.over && b.left != 0
	if unread == b.unread {
		return
	}
	b.unread = unread
	if unread {
		b.conn.unread.Add(1)
	} else {
		b.conn.unread.Add(-1)
	}
}

// Converse ends the minimum rate, as the method of body does for HTTP/1.
func (b *streamBody) Converse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pace = pace{free: true}
}

// Close closes the body. It may run concurrently with Read.
func (b *streamBody) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

// release stops watching the body when its handler returns.
func (b *streamBody) release() {
	b.reading.close()
	b.finish()
}

// finish records that the proxy expects no more bytes from the client.
func (b *streamBody) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.setUnread(false)
}

// moved reports whether the client may be unable to send.
func (b *streamBody) moved() bool { return b.conn.isStarved() }

// cut makes this and all later reads fail.
func (b *streamBody) cut() {
	b.conn.listener.tally(&b.conn.listener.counts.Slow)
	_ = b.control.SetReadDeadline(past)
}
