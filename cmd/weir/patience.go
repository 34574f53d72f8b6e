package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// patience keeps most slow clients from being taken for a slow upstream, and
// bounds how long one may stall, in either direction.
//
// A short request body is read before the request goes on to the limiter, so
// that nothing holds a slot while its client is still sending. Longer ones, and
// those of unknown length, stream: there a client that trickles holds its slot,
// and is part of the latency, for as long as no read or write takes longer than
// stall.
type patience struct {
	next  http.Handler
	stall time.Duration // 0 means any time
}

// readAhead is the longest body that is read in advance; only a body of known
// length is, because another may be one half of a conversation.
const readAhead = 64 << 10

func (p patience) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := http.NewResponseController(w)
	if r.Body != http.NoBody {
		body := &clientBody{body: r.Body, conn: conn, stall: p.stall}
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)) // a copy: the server needs its own body
		r.Body = body
		if 0 < r.ContentLength && r.ContentLength <= readAhead {
			ahead, err := io.ReadAll(body)
			if err != nil {
				http.Error(w, http.StatusText(statusOf(err)), statusOf(err))
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(ahead))
			r.Header = r.Header.Clone()
			r.Header.Del("Expect") // has been answered
		}
	}
	p.next.ServeHTTP(&clientWriter{ResponseWriter: w, conn: conn, stall: p.stall}, r)
}

// deadline is when a read or write that starts now has stalled.
func deadline(stall time.Duration) time.Time {
	if stall == 0 {
		return time.Time{}
	}
	return time.Now().Add(stall)
}

// A clientError is the client's failure to send its request body.
type clientError struct{ error }

func (e clientError) Unwrap() error { return e.error }

// statusClientGone is written though the client has left. Like any 4xx it teaches the
// limiter nothing.
const statusClientGone = 499

// statusOf returns the status that answers what a client did, nil if it only left.
func statusOf(err error) int {
	switch {
	case err == nil:
		return statusClientGone
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// bodyKey is the key of a request's clientBody.
type bodyKey struct{}

// bodyError returns why the body of the request could not be read, once the last
// attempt has ended.
func bodyError(ctx context.Context) error {
	body, ok := ctx.Value(bodyKey{}).(*clientBody)
	if !ok {
		return nil
	}
	body.mu.Lock()
	defer body.mu.Unlock()
	return body.failure
}

// clientBody is a request body that marks its errors as the client's.
type clientBody struct {
	mu    sync.Mutex // Close may overtake a Read of the transport's
	body  io.ReadCloser
	conn  *http.ResponseController
	stall time.Duration
	done  bool

	failure error
}

func (b *clientBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return b.body.Read(p)
	}
	_ = b.conn.SetReadDeadline(deadline(b.stall))
	n, err := b.body.Read(p)
	if err != nil {
		b.done = true
	}
	if err != nil && err != io.EOF {
		// The deadline stays: without it the server would wait for the
		// rest of the body before it answers.
		b.failure = clientError{err}
		err = b.failure
	}
	return n, err
}

func (b *clientBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	return b.body.Close()
}

// clientWriter gives up on a client that stopped reading.
type clientWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	stall time.Duration
}

func (w *clientWriter) Write(p []byte) (int, error) {
	_ = w.conn.SetWriteDeadline(deadline(w.stall))
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController the rest of what the writer can do.
func (w *clientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
