package listen

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// StatusClientGone is written though the client has left. Like any 4xx it teaches a limiter nothing.
const StatusClientGone = 499

// Status returns the status that answers the failure of a client: 408 if it stalled, 400 if what it sent cannot be read, 499 if
// err is nil because it only left.
func Status(err error) int {
	switch {
	case err == nil:
		return StatusClientGone
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// A ClientError is a client's failure to send the body of its request. Reading the body returns it.
type ClientError struct{ Err error }

// Error says what failed.
func (e *ClientError) Error() string { return "request body: " + e.Err.Error() }

// Unwrap returns what net/http said.
func (e *ClientError) Unwrap() error { return e.Err }

// BodyError returns why the body of a request could not be read; nil if it could, so far. The context is the request's.
func BodyError(ctx context.Context) error {
	b, ok := ctx.Value(bodyKey{}).(*body)
	if !ok {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// bodyKey is the key of a request's body.
type bodyKey struct{}

// body is a request body that fails if its client stalls.
type body struct {
	io.ReadCloser
	conn    *conn
	stream  *http.ResponseController // of HTTP/2, nil otherwise
	reading watch                    // of the stream

	mu      sync.Mutex
	over    bool // nothing more is expected of the client
	failure error
}

func (b *body) Read(p []byte) (int, error) {
	if !b.begin() {
		return b.ReadCloser.Read(p)
	}
	n, err := b.ReadCloser.Read(p)
	b.reading.end()
	if err == nil {
		return n, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != io.EOF && !b.over {
		// The deadline stays: without it the server would wait for the rest of the body before it answers.
		err = &ClientError{err}
		b.failure = err
	}
	b.over = true
	return n, err
}

// begin begins a read, and reports whether the client has to send something.
func (b *body) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return false
	}
	if b.stream != nil {
		b.reading.begin(b.conn.sendStall(), b)
	} else {
		b.delay()
	}
	return true
}

// delay gives the client of HTTP/1 its time to send something.
func (b *body) delay() {
	var deadline time.Time
	if stall := b.conn.sendStall(); stall > 0 {
		deadline = time.Now().Add(stall)
	}
	_ = b.conn.SetReadDeadline(deadline)
}

// Close closes the body; it may overtake a Read.
func (b *body) Close() error {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

// release ends the care for the body as its handler returns. A Read that comes later, from a transport that has not noticed
// yet, must not touch the deadline of the next request.
func (b *body) release() {
	b.reading.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over && b.stream == nil {
		b.delay() // net/http reads some of the rest, to keep the connection
	}
	b.over = true
}

// moved is false: a Read that goes on has brought nothing.
func (b *body) moved() bool { return false }

func (b *body) cut() { _ = b.stream.SetReadDeadline(past) }
