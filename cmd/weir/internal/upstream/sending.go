package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync/atomic"
)

// A Caller is the exchange that a request belongs to. Its methods may be called while Send
// runs, from other goroutines.
type Caller interface {
	// Informed receives each informational response. An error ends the request.
	Informed(status int, header textproto.MIMEHeader) error
	// BodyFailed reports whether the body of the request could not be read, for which no
	// address is to blame.
	BodyFailed() bool
}

// maxEarly bounds the informational responses to a request. net/http bounds their size only
// if they are not passed on. A server that sends a 102 each 20 s, while it works, can do so
// for half an hour.
const maxEarly = 100

var errEarly = errors.New("more than 100 informational responses")

// A sending is a request being sent.
type sending struct {
	in, out *http.Request // as received, and as sent
	url     url.URL       // of out
	caller  Caller
	again   func() (io.ReadCloser, error) // the body from its beginning; nil if that is gone

	connections atomic.Int64
	abort       context.CancelCauseFunc // nil for HTTP/1
	early       atomic.Int64
}

func newSending(ctx context.Context, req *http.Request, caller Caller, http2 bool) *sending {
	s := &sending{in: req, caller: caller, again: req.GetBody}
	if http2 {
		ctx, s.abort = context.WithCancelCause(ctx) // a child of the caller's, which ends it
	}
	s.out = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.gotConn, Got1xxResponse: s.got1xx}))
	s.out.GetBody = nil // net/http would use it after a PROTOCOL_ERROR too, when the server may be at work
	return s
}

// renew prepares another try for a request that the server has not begun. It reports false if
// there can be none.
func (s *sending) renew(err error) bool {
	if s.again == nil || !notBegun(err) {
		return false
	}
	body, err := s.again()
	s.out = s.out.WithContext(s.out.Context()) // a copy: the last try may still end
	s.out.Body = body
	return err == nil
}

// notBegun reports whether a server of HTTP/2 has said that it has not begun a request. The text is
// all that net/http has of an error after which it would send a request without a body again.
func notBegun(err error) bool {
	text := err.Error()
	return strings.Contains(text, "http2: Transport: cannot retry err [") &&
		(strings.Contains(text, "REFUSED_STREAM") || strings.Contains(text, "graceful shutdown GOAWAY"))
}

func (s *sending) to(a *address, host string) *http.Request {
	s.url = *s.in.URL
	a.locate(&s.url)
	s.out.URL = &s.url
	if host != "" {
		s.out.Host = host
	}
	return s.out
}

// mostConnections bounds the tries of net/http. A burst that meets a new connection needs some,
// before the number of streams is known that the server allows.
const mostConnections = 20

var errTries = errors.New("the server has refused the request, or broken it off, on 20 connections")

// gotConn bounds the tries of net/http, which for HTTP/2 sends a request without a body thousands
// of times a second to a server that ends it by a PROTOCOL_ERROR or a GOAWAY.
func (s *sending) gotConn(httptrace.GotConnInfo) {
	if s.connections.Add(1) > mostConnections && s.abort != nil {
		s.abort(errTries)
	}
}

func (s *sending) got1xx(code int, header textproto.MIMEHeader) error {
	if s.early.Add(1) > maxEarly {
		return errEarly
	}
	if code == http.StatusContinue && s.in.Header["Expect"] != nil {
		return nil // the server sends its own when its body is read, and a client might answer both
	}
	return s.caller.Informed(code, header)
}
