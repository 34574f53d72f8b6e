package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// maxTries is the number of addresses tried for a request, so that a service that is down
// costs a client at most three connect timeouts.
const maxTries = 3

// Send sends a request to an address: to its scheme, host and base path, with the configured Host,
// or else the Host of the request. The Request of the response is the request that was sent. A
// request that found no connection goes to another address, because no transport reads a body
// without a connection. So Close must leave a body open that no transport has read, and must end a
// Read that waits. A request that a server of HTTP/2 has not begun is sent again if it has a
// GetBody. The request is in flight until done is called, after the body of the response was
// closed.
func (p *Pool) Send(ctx context.Context, req *http.Request, caller Caller) (res *http.Response, done func(), err error) {
	s := newSending(ctx, req, caller, p.HTTP2())
	var tries [maxTries]*address
	for n := range maxTries {
		a := p.choose(tries[:n])
		if a == nil {
			break
		}
		if res, err = p.try(s, a); err == nil {
			return res, func() { s.leave(); a.done() }, nil
		}
		err = fmt.Errorf("upstream %s, %s: %w", p.name, a.text, err)
		if ctx.Err() == nil && s.renew(err) {
			continue
		}
		if !errors.As(err, new(*dialError)) || ctx.Err() != nil {
			break
		}
		tries[n] = a
	}
	return nil, nil, err
}

// HTTP2 reports whether the servers speak HTTP/2. By GOAWAY and REFUSED_STREAM they say which
// requests they have not begun, and Send sends these requests again. HTTP/1 has no such message.
func (p *Pool) HTTP2() bool { return isHTTP2(p.config) }

func isHTTP2(c config.Upstream) bool { return c.Protocol == "http2" }

func (p *Pool) try(s *sending, a *address) (*http.Response, error) {
	ejections := a.ejections.Load()
	a.requests.Add(1)
	a.inFlight.Add(1)
	a.begin()
	res, err := a.transportFor(s.in).RoundTrip(s.to(a, p.config.Host))
	if err == nil {
		err = checkStatus(res)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) { // HTTP/2 gives no other cause
			err = cmp.Or(context.Cause(s.out.Context()), err)
		}
		a.done()
		if s.blames(err) {
			p.fail(a, err.Error(), ejections)
		}
		return nil, err
	}
	switch {
	case !failed(res):
		a.succeed(ejections)
	case !s.caller.ClientFailed(): // otherwise the server has ended a call whose time is over
		p.fail(a, res.Status, ejections)
	}
	return res, nil
}

// checkStatus refuses a status that net/http reads from a response but panics to write.
func checkStatus(res *http.Response) error {
	if res.StatusCode >= 100 && res.StatusCode <= 999 {
		return nil
	}
	_ = res.Body.Close()
	return fmt.Errorf("the response has status %d: want 100 to 999", res.StatusCode)
}

func (p *Pool) fail(a *address, why string, ejections uint64) {
	if !a.fail(why, ejections, p.config.Eject, time.Now()) {
		return
	}
	if slices.Contains(p.rotation(), a) {
		p.log.Warn("address of upstream fails, and still gets requests: at most half are ejected", "address", a.text, "error", why)
		return
	}
	p.log.Warn("address of upstream is ejected", "address", a.text, "for", time.Duration(p.config.Eject.For).String(), "error", why)
}

// done records that a request is no longer in flight.
func (a *address) done() {
	a.inFlight.Add(-1)
	a.end()
}

// A Caller is the exchange that a request belongs to. Its methods may be called while Send
// runs, from other goroutines.
type Caller interface {
	// Informed receives each informational response. An error ends the request.
	Informed(status int, header textproto.MIMEHeader) error
	// ClientFailed reports whether the client has left, its time is over, or its body could not be
	// read: no address is to blame for that.
	ClientFailed() bool
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

	conn        atomic.Pointer[conn] // of HTTP/1
	connections atomic.Int64
	abort       context.CancelCauseFunc // nil for HTTP/1
	early       atomic.Int64
}

func newSending(ctx context.Context, req *http.Request, caller Caller, http2 bool) *sending {
	s := &sending{in: req, caller: caller}
	if http2 {
		ctx, s.abort = context.WithCancelCause(ctx) // a child of the caller's, which ends it
	}
	s.out = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.gotConn, Got1xxResponse: s.got1xx}))
	s.out.GetBody = nil // net/http would use it after a PROTOCOL_ERROR too, when the server may be at work
	return s
}

// renew prepares another try for a request that the server has not begun. It reports false if the
// request cannot be sent again.
func (s *sending) renew(err error) bool {
	if s.in.GetBody == nil || !notBegun(err) {
		return false
	}
	body, err := s.in.GetBody()
	s.out = s.out.WithContext(s.out.Context()) // a copy: the last try may still end
	s.out.Body = body
	return err == nil
}

// notBegun reports whether a server of HTTP/2 has said that it has not begun a request. net/http
// marks such an error only by this text. TestRefusedRequestsOfHTTP2AreSentAgain fails if the text
// changes.
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

// mostConnections bounds the tries of net/http. A burst that meets a new connection needs several
// tries, until net/http knows the number of streams that the server allows.
const mostConnections = 20

var errTries = errors.New("the server has refused the request, or broken it off, on 20 connections")

// gotConn bounds the tries of net/http, which for HTTP/2 sends a request without a body thousands
// of times a second to a server that ends it by a PROTOCOL_ERROR or a GOAWAY.
func (s *sending) gotConn(got httptrace.GotConnInfo) {
	s.beginOn(got.Conn)
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
