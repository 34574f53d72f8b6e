package listen

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body is a request body that fails if its client stalls, or sends it too slowly.
type body struct {
	io.ReadCloser
	conn    *conn
	stream  *http.ResponseController // of HTTP/2, nil otherwise
	reading watch
	pace    pace
	trailer http.Header

	underscores bool // pass in names of trailers

	// Of the read of HTTP/1 that is under way.
	deadline int
	received uint64 // by the connection at the last look

	mu     sync.Mutex
	left   int64 // to be read, -1 if its length is unknown
	over   bool  // nothing more is expected of the client
	unread bool  // counts as such for the connection
}

func newBody(r *http.Request, c *conn, w http.ResponseWriter) *body {
	b := &body{ReadCloser: r.Body, conn: c, left: r.ContentLength}
	b.pace.conn, b.pace.cut = c, b.cut
	if r.ProtoMajor >= 2 {
		b.stream = http.NewResponseController(w)
		b.setUnread(true)
	}
	return b
}

func (b *body) Read(p []byte) (int, error) {
	if !b.begin() {
		return b.read(p)
	}
	n, err := b.read(p)
	b.reading.end()
	b.pace.end(n)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left > 0 {
		b.left -= int64(n)
	}
	if err != nil {
		b.over = true // the deadline stays: without it the server would wait for the rest of the body before it answers
	}
	b.setUnread(true)
	return n, err
}

func (b *body) read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		dropTrailers(b.trailer, b.underscores)
	}
	return n, err
}

// begin begins a read, and reports whether the client has to send something.
func (b *body) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || !b.pace.begin() {
		return false
	}
	b.setUnread(false)
	if b.stream == nil {
		b.deadline = b.delay()
		b.received = b.conn.received.Load()
	}
	b.reading.begin(b.conn.sendStall(), b)
	return true
}

// setUnread tells the connection whether some of a body of HTTP/2 may wait for the proxy. The lock
// is held, or the body is new.
func (b *body) setUnread(unread bool) {
	unread = unread && b.stream != nil && !b.over && b.left != 0
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

// delay gives the client of HTTP/1 its time to send something.
func (b *body) delay() (deadline int) {
	var at time.Time
	if stall := b.conn.sendStall(); stall > 0 {
		at = time.Now().Add(stall)
	}
	deadline, _ = b.conn.delayRead(at)
	return deadline
}

// Converse has the client send when it has something to say: only BodyTimeout bounds what it does
// from now on.
func (b *body) Converse() { b.pace.close() }

// Close closes the body; it may overtake a Read.
func (b *body) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

// release ends the care for the body as its handler returns. A Read that comes later, from a
// transport that has not noticed yet, must not touch the deadline of the next request.
func (b *body) release() {
	b.reading.close()
	b.pace.close()
	if !b.finish() && b.stream == nil && !b.pace.isSlow() {
		b.delay() // net/http reads some of the rest, to keep the connection
	}
}

// finish expects nothing more of the client, and reports whether that was so before.
func (b *body) finish() (before bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before = b.over
	b.over = true
	b.setUnread(false)
	return before
}

// moved reports whether the client sent something that the Read which goes on has not brought, such
// as a part of a record of TLS, or may be unable to send.
func (b *body) moved() bool {
	if b.stream != nil {
		return b.conn.isStarved()
	}
	before := b.received
	b.received = b.conn.received.Load()
	if b.received == before {
		return false
	}
	b.conn.extendRead(b.deadline, time.Now().Add(b.conn.sendStall()))
	return true
}

// cut makes the reads fail, for good.
func (b *body) cut() {
	if b.stream != nil {
		_ = b.stream.SetReadDeadline(past)
	} else {
		_ = b.conn.SetReadDeadline(past)
	}
}
