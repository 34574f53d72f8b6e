package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// maxTries is the number of addresses tried for a request, so that a service that is down
// costs a client at most three connect timeouts.
const maxTries = 3

// RoundTrip sends a request to an address: to its scheme, host and base path, with the
// configured Host or else its own. The Request of the response is the one that was sent. A
// body with GetBody can be replayed; another body cannot, once it was read from.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	s := newSending(req)
	defer s.release()
	var tries [maxTries]*address
	for n := 0; ; n++ {
		a := p.choose(tries[:n])
		if a == nil {
			return nil, s.err
		}
		var res *http.Response
		if res, s.err = p.send(s, a); s.err == nil {
			return res, nil
		}
		s.err = fmt.Errorf("upstream %s, %s: %w", p.name, a.text, s.err)
		if tries[n] = a; n == maxTries-1 || !s.again() {
			return nil, s.err
		}
	}
}

// send tries one address.
func (p *Pool) send(s *sending, a *address) (*http.Response, error) {
	ejections := a.ejections.Load()
	a.requests.Add(1)
	a.inFlight.Add(1)
	a.begin()
	res, err := a.transport.RoundTrip(s.to(a, p.config.Host))
	if err == nil {
		err = checkStatus(res)
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
	res.Body = a.untilClosed(res.Body)
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

// fail records that a request failed.
func (p *Pool) fail(a *address, why string, ejections uint64) {
	if a.fail(why, ejections, p.config.Eject, time.Now()) {
		p.log.Warn("address of upstream is ejected", "address", a.text, "for", time.Duration(p.config.Eject.For).String(), "error", why)
	}
}

// done records that a request is no longer in flight.
func (a *address) done() {
	a.inFlight.Add(-1)
	a.end()
}

// again reports whether the request can be sent to another address because no byte of it has
// been sent.
func (s *sending) again() bool {
	if !errors.As(s.err, new(*dialError)) || s.Err() != nil {
		return false
	}
	return s.rewind()
}
