package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// mostRead bounds the bytes that a check reads of its answer. An answer that breaks off before that
// is a failure.
const mostRead = 64 << 10

// errSheds is the answer of a server that sheds load, which means neither healthy nor
// unhealthy.
var errSheds = errors.New("the server sheds load")

func (p *Pool) checkUntil(ctx context.Context, a *address) {
	for {
		if wait := a.checkIn(time.Duration(p.config.Health.Interval), time.Now()); wait > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			continue
		}
		err := p.ask(ctx, a)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errSheds) || !a.check(err, p.config.Health, time.Now()) {
			continue
		}
		if err != nil {
			p.log.Warn("address of upstream is unhealthy", "address", a.text, "error", err)
		} else {
			p.log.Info("address of upstream is healthy", "address", a.text)
		}
	}
}

func (p *Pool) ask(ctx context.Context, a *address) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.config.Health.Timeout))
	defer cancel()
	path, query, _ := strings.Cut(p.config.Health.Path, "?")
	req := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Path: path, RawQuery: query},
		Header: http.Header{"User-Agent": {"weir-health"}},
		Host:   p.config.Host,
	}
	a.locate(req.URL)
	a.begin()
	defer a.end()
	// net/http frees a connection of HTTP/1 before the caller has a response without a body. A
	// check that takes the connection then, and is cancelled, would end that response. So checks
	// are alone.
	res, err := a.alone.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, mostRead))
	switch {
	case err != nil:
		return err
	case res.StatusCode >= 200 && res.StatusCode < 400:
		return nil
	case res.StatusCode == http.StatusServiceUnavailable && !failed(res):
		return errSheds
	}
	return fmt.Errorf("check was answered with %s: want 200 to 399", res.Status)
}
