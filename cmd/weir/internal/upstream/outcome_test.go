package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// gotConn calls the trace as http.Transport does when it has a connection.
func gotConn(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

func TestWhatIsAFailure(t *testing.T) {
	left, leave := context.WithCancel(context.Background())
	leave()
	gone, end := context.WithCancelCause(context.Background())
	end(weir.ErrExecutionTimeout)
	impatient, stop := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer stop()
	reset := func(r *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	notBegun := errors.New("http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM] after Request.Body was written")
	const over = true // the client's time, or its body could not be read
	for name, test := range map[string]struct {
		ctx    context.Context //nolint:containedctx // of the case
		f      fake
		client bool // its fault
		want   int64
	}{
		"answer":                     {t.Context(), answer(http.StatusOK), false, 0},
		"error of the service":       {t.Context(), answer(http.StatusInternalServerError), false, 0},
		"too many requests":          {t.Context(), answer(http.StatusTooManyRequests), false, 0},
		"bad gateway":                {t.Context(), answer(http.StatusBadGateway), false, 1},
		"unavailable":                {t.Context(), answer(http.StatusServiceUnavailable), false, 1},
		"gateway timeout":            {t.Context(), answer(http.StatusGatewayTimeout), false, 1},
		"gateway timeout of a call":  {t.Context(), answer(http.StatusGatewayTimeout), over, 0}, // by a server of Connect
		"bad gateway, later":         {t.Context(), answer(http.StatusBadGateway, "Retry-After", "1"), false, 1},
		"sheds":                      {t.Context(), answer(http.StatusServiceUnavailable, "Retry-After", "1"), false, 0},
		"sheds by Weir":              {t.Context(), answer(http.StatusServiceUnavailable, "Weir-Refused", "limit reached"), false, 0},
		"unavailable, nonsense":      {t.Context(), answer(http.StatusServiceUnavailable, "Retry-After", "soon"), false, 1},
		"reset":                      {t.Context(), reset, false, 1},
		"no body":                    {t.Context(), reset, over, 0},
		"not begun":                  {t.Context(), func(*http.Request) (*http.Response, error) { return nil, notBegun }, false, 0},
		"client has left":            {left, reset, false, 0},
		"deadline of the client":     {impatient, reset, false, 0},
		"timeout of the route":       {gone, reset, false, 1},
		"no connection":              {t.Context(), func(*http.Request) (*http.Response, error) { return nil, &dialError{io.EOF} }, false, 1},
		"no file for a connection":   {t.Context(), func(*http.Request) (*http.Response, error) { return nil, &dialError{syscall.EMFILE} }, false, 0},
		"no connection, client left": {left, func(*http.Request) (*http.Response, error) { return nil, &dialError{io.EOF} }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := fakes(t, 1)
			p.pretend(0, func(r *http.Request) (*http.Response, error) {
				gotConn(r)
				return test.f(r)
			})
			if _, done, err := p.Send(test.ctx, httptest.NewRequest(http.MethodGet, "/", nil), caller{failed: test.client}); err == nil {
				done()
			}
			a := p.addresses[0]
			if n, inRow := int64(a.failures.Load()), a.failed.Load(); n != test.want || inRow != test.want || a.inFlight.Load() != 0 {
				t.Errorf("%d failures, %d in a row, want %d; %d in flight after the end", n, inRow, test.want, a.inFlight.Load())
			}
		})
	}
}

func answer(status int, header ...string) fake {
	return func(*http.Request) (*http.Response, error) { return response(status, header...), nil }
}

// A request that net/http refuses to send is no failure of the address; otherwise a client
// could eject it.
func TestARequestThatCannotBeSentIsNoFailure(t *testing.T) {
	p, _ := started(t, defaults("http://127.0.0.1:1"))
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header["Bad\nName"] = []string{"x"}
	if _, err := send(p, req); err == nil {
		t.Fatal("a request with an invalid header was sent")
	}
	if s := p.Snapshot()[0]; s.Failures != 0 || s.InFlight != 0 {
		t.Errorf("want no failure and nothing in flight: %+v", s)
	}
}

// refusing returns an address without a listener.
func refusing(t testing.TB) string {
	t.Helper()
	return "http://" + tcptest.FreeAddress(t)
}

func echo(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }

func TestNoConnectionIsTriedElsewhere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	c := defaults(refusing(t), refusing(t), server.URL)
	c.Eject.Failures = 0
	p, _ := started(t, c)
	for range 50 {
		res := must.Have(roundTrip(p, httptest.NewRequest(http.MethodPost, "/", openBody{strings.NewReader("hello")})))(t)
		got, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(got) != "hello" {
			t.Fatalf("the server got %q, want hello", got)
		}
		if res.Request.URL.Host != strings.TrimPrefix(server.URL, "http://") {
			t.Fatalf("the request of the response says %s, want the address that answered", res.Request.URL)
		}
	}
	for i, s := range p.Snapshot()[:2] {
		if s.Failures == 0 || s.InFlight != 0 {
			t.Errorf("address %d: want failures, and nothing in flight: %+v", i, s)
		}
	}
}

// An openBody stays open, as the body of an exchange does.
type openBody struct{ io.Reader }

func (openBody) Close() error { return nil }

func TestEachAddressIsTriedOnceAndThreeInAll(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		var addresses []string
		for range n {
			addresses = append(addresses, refusing(t))
		}
		c := defaults(addresses...)
		p, _ := started(t, c)
		if _, err := get(t, t.Context(), p); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("error %v, want refused", err)
		}
		tries := uint64(0)
		for _, s := range p.Snapshot() {
			tries += s.Requests
			if s.Requests > 1 {
				t.Errorf("%s was tried %d times", s.URL, s.Requests)
			}
		}
		if want := uint64(min(n, maxTries)); tries != want {
			t.Errorf("of %d addresses %d were tried, want %d", n, tries, want)
		}
	}
}

func TestWhatWasSentIsNotSentAgain(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		leave bool
		tries uint64
	}{
		"no connection":                {&dialError{syscall.ECONNREFUSED}, false, 2},
		"no connection, client left":   {&dialError{syscall.ECONNREFUSED}, true, 1},
		"reset":                        {syscall.ECONNRESET, false, 1},
		"reset of a dialed connection": {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			p, _ := fakes(t, 2)
			for i := range 2 {
				p.pretend(i, func(*http.Request) (*http.Response, error) {
					if test.leave {
						leave()
					}
					return nil, test.err
				})
			}
			if _, err := get(t, ctx, p); !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			if s := p.Snapshot(); s[0].Requests+s[1].Requests != test.tries {
				t.Errorf("%d tries, want %d", s[0].Requests+s[1].Requests, test.tries)
			}
		})
	}
}
