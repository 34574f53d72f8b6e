package listen

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body is a request body that fails if its client stalls or sends too slowly.
type body struct {
	io.ReadCloser
	conn    *conn
	stream  *http.ResponseController // for HTTP/2, nil otherwise
	reading watch
	pace    pace
	trailer http.Header

	underscores bool // allowed in names of trailers

	// For the current read of HTTP/1.
	deadline int
	received uint64 // by the connection when moved last looked

	mu     sync.Mutex
	left   int64 // unread bytes, -1 if the length is unknown
	over   bool  // the proxy expects nothing more from the client
	unread bool  // counted in conn.unread
}

func newBody(r *http.Request, c *conn, w http.ResponseWriter) *body {
	b := &body{ReadCloser: r.Body, conn: c, left: r.ContentLength}
	b.pace.conn = c
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

// begin begins a read. It reports false if the read need not wait for the client.
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

// setUnread counts, in the connection, an HTTP/2 body that may have data the proxy has not
// read. The lock is held, or the body is new.
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

// delay sets the read deadline of an HTTP/1 client.
func (b *body) delay() (deadline int) {
	var at time.Time
	if stall := b.conn.sendStall(); stall > 0 {
		at = time.Now().Add(stall)
	}
	deadline, _ = b.conn.delayRead(at)
	return deadline
}

// Converse ends the minimum rate, because the client may now pause between messages. Only
// BodyTimeout still applies.
func (b *body) Converse() { b.pace.close() }

// Close closes the body. It may run concurrently with Read.
func (b *body) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

// release stops watching the body when its handler returns. A later Read, by a transport that
// has not noticed yet, must not change the deadline of the next request.
func (b *body) release() {
	b.reading.close()
	b.pace.close()
	if !b.finish() && b.stream == nil {
		b.delay() // net/http reads some of the rest, to keep the connection
	}
}

// finish records that nothing more is expected from the client, and returns the previous
// value.
func (b *body) finish() (before bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before = b.over
	b.over = true
	b.setUnread(false)
	return before
}

// moved reports whether the client has sent something that the current Read has not returned
// yet, such as part of a TLS record, or may be unable to send. It cuts a client that moves too
// slowly.
func (b *body) moved() bool {
	if b.pace.late() {
		b.cut()
		return true
	}
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

// cut makes this and all later reads fail.
func (b *body) cut() {
	if b.stream != nil {
		_ = b.stream.SetReadDeadline(past)
	} else {
		_ = b.conn.SetReadDeadline(past)
	}
}
