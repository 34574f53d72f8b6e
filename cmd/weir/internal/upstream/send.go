package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// maxTries is the number of addresses tried for a request, so that a service that is down
// costs a client at most three connect timeouts.
const maxTries = 3

// Send sends a request to an address: to its scheme, host and base path, with the configured
// Host or else its own. The Request of the response is the one that was sent. A request that
// found no connection goes to another address: no transport reads a body without a connection.
// The Close of a body must leave it open for that. A request that a server of HTTP/2 has not begun
// is sent again if it has a GetBody. The request is in flight until done is
// called, after the body of the response was closed.
func (p *Pool) Send(ctx context.Context, req *http.Request, caller Caller) (res *http.Response, done func(), err error) {
	s := newSending(ctx, req, caller, p.HTTP2())
	var tries [maxTries]*address
	for n := range maxTries {
		a := p.choose(tries[:n])
		if a == nil {
			break
		}
		if res, err = p.try(s, a); err == nil {
			return res, a.done, nil
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
// requests they have not begun, and those are sent again. HTTP/1 has no word for it.
func (p *Pool) HTTP2() bool { return p.config.Protocol == "http2" }

func (p *Pool) try(s *sending, a *address) (*http.Response, error) {
	ejections := a.ejections.Load()
	a.requests.Add(1)
	a.inFlight.Add(1)
	a.begin()
	res, err := a.transport.RoundTrip(s.to(a, p.config.Host))
	if err == nil {
		err = checkStatus(res)
	}
	if errors.Is(context.Cause(s.out.Context()), errTries) {
		err = errTries
	}
	if err != nil {
		a.done()
		if s.blames(err) {
			p.fail(a, err.Error(), ejections)
		}
		return nil, err
	}
	asked := boundRetryAfter(res.Header, time.Duration(p.config.MaxRetryAfter))
	if failed(res, asked) {
		p.fail(a, res.Status, ejections)
	} else {
		a.succeed(ejections)
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
