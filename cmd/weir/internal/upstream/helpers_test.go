package upstream

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/must"
)

// defaults is an upstream with the file's defaults.
func defaults(addresses ...string) config.Upstream {
	c := config.New[config.Upstream]()
	c.Addresses = addresses
	return c
}

// A journal keeps log messages.
type journal struct{ locked.Buffer }

// count returns how often a message was logged.
func (j *journal) count(message string) int { return strings.Count(j.String(), `msg="`+message+`"`) }

func newPool(t testing.TB, c config.Upstream, previous *Pool) (*Pool, *journal) {
	t.Helper()
	j := new(journal)
	p := must.Have(New("api", c, previous, slog.New(slog.NewTextHandler(j, nil))))(t)
	return p, j
}

// started returns a pool that is closed when the test ends.
func started(t testing.TB, c config.Upstream) (*Pool, *journal) {
	t.Helper()
	p, j := newPool(t, c, nil)
	p.Start()
	t.Cleanup(p.Close)
	return p, j
}

// A fake is the transport of an address.
type fake func(*http.Request) (*http.Response, error)

func (f fake) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pretend replaces the connections to an address by a fake.
func (p *Pool) pretend(i int, f fake) {
	p.addresses[i].connections = &connections{transport: f, alone: f}
	p.addresses[i].pools.Add(1)
}

func response(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader("ok"))}
}

func get(t testing.TB, ctx context.Context, p *Pool) (status int, err error) {
	t.Helper()
	return send(p, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
}

// A caller keeps the informational responses to its request.
type caller struct {
	informed func(int) error
	failed   bool
}

func (c caller) Informed(status int, _ textproto.MIMEHeader) error {
	if c.informed == nil {
		return nil
	}
	return c.informed(status)
}

func (c caller) ClientFailed() bool { return c.failed }

func roundTrip(p *Pool, req *http.Request) (*http.Response, error) {
	res, done, err := p.Send(req.Context(), req, caller{})
	if err == nil {
		res.Body = &body{res.Body, done}
	}
	return res, err
}

// A body ends its request when it is closed.
type body struct {
	io.ReadCloser
	done func()
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	if b.done != nil {
		b.done()
		b.done = nil
	}
	return err
}

// send sends a request and reads the whole response.
func send(p *Pool, req *http.Request) (status int, err error) {
	res, err := roundTrip(p, req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}
