package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"sync/atomic"
)

// maxEarly bounds the informational responses to a request. net/http bounds their size only
// if they are not passed on, as httputil.ReverseProxy does. A server that sends a 102 each 20
// s, while it works, can do so for half an hour.
const maxEarly = 100

var errEarly = errors.New("more than 100 informational responses")

// A sending is a request being sent, and its context.
type sending struct {
	context.Context               //nolint:containedctx // the request's context with another trace
	in, out         *http.Request // as received, and as sent
	url             url.URL       // of out
	upload          *upload       // nil unless the request has a body that cannot be replayed
	err             error         // of the last try

	trace     httptrace.ClientTrace  // replaces the request's trace, and calls its hooks
	asked     *httptrace.ClientTrace // the request's trace
	connected atomic.Bool
	early     atomic.Int64
}

func newSending(req *http.Request) *sending {
	s := &sending{Context: req.Context(), in: req}
	s.asked = httptrace.ContextClientTrace(s.Context)
	if s.asked == nil {
		s.asked = new(httptrace.ClientTrace)
		s.Context = httptrace.WithClientTrace(s.Context, s.asked)
	}
	s.trace = *s.asked
	s.trace.GotConn = s.gotConn
	if s.asked.Got1xxResponse != nil {
		s.trace.Got1xxResponse = s.got1xx
	}
	s.out = req.WithContext(s)
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		s.upload = &upload{body: req.Body}
		s.out.Body = s.upload
	}
	return s
}

// to returns the request for an address.
func (s *sending) to(a *address, host string) *http.Request {
	s.url = *s.in.URL
	a.locate(&s.url)
	s.out.URL = &s.url
	if host != "" {
		s.out.Host = host
	}
	return s.out
}

// Value returns the values of the request's context, but replaces the trace. It recognizes
// the trace by its value, because the key is private to its package.
func (s *sending) Value(key any) any {
	value := s.Context.Value(key)
	if value == any(s.asked) {
		return &s.trace
	}
	return value
}

func (s *sending) gotConn(info httptrace.GotConnInfo) {
	s.connected.Store(true)
	if s.asked.GotConn != nil {
		s.asked.GotConn(info)
	}
}

func (s *sending) got1xx(code int, header textproto.MIMEHeader) error {
	if s.early.Add(1) > maxEarly {
		return errEarly
	}
	if code == http.StatusContinue && s.in.Header["Expect"] != nil {
		return nil // the server sends its own when its body is read, and a client might answer both
	}
	return s.asked.Got1xxResponse(code, header)
}

// rewind prepares the body for another try, and reports whether it can.
func (s *sending) rewind() bool {
	if s.upload != nil {
		return !s.upload.touched()
	}
	if s.in.GetBody == nil {
		return true
	}
	body, err := s.in.GetBody()
	s.out.Body = body
	return err == nil
}

// release closes a body that was kept for another try.
func (s *sending) release() {
	if s.upload != nil {
		s.upload.release()
	}
}

// An upload is a body that can be read once. A transport closes the body of a request that it
// could not send; the upload stays open until it has been read from or released.
type upload struct {
	body io.ReadCloser

	mu             sync.Mutex
	read, released bool
	asked          bool // asked to close
	err            error
}

func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	u.read = true
	u.mu.Unlock()
	n, err := u.body.Read(p)
	if err != nil && err != io.EOF {
		u.mu.Lock()
		u.err = err
		u.mu.Unlock()
	}
	return n, err
}

func (u *upload) Close() error {
	u.mu.Lock()
	u.asked = true
	open := !u.read && !u.released
	u.mu.Unlock()
	if open {
		return nil
	}
	return u.body.Close()
}

func (u *upload) release() {
	u.mu.Lock()
	u.released = true
	asked := u.asked && !u.read
	u.mu.Unlock()
	if asked {
		u.body.Close()
	}
}

func (u *upload) touched() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.read
}

func (u *upload) failed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err != nil
}
