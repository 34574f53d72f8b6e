package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// through returns a client whose requests go through lim to base.
func through(lim weir.Admitter, base http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     weirhttp.Transport(base, weirhttp.One(lim)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a base that answers with the given status and body.
func answer(status int, body io.Reader) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), Request: req}, nil
	}
}

func TestResponseTeaches(t *testing.T) {
	success, failure, nothing := limittest.Taught{Succeeded: 1}, limittest.Taught{Failed: 1}, limittest.Taught{Ignored: 1}
	overloaded := limittest.Taught{Overloaded: 1}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    limittest.Taught
	}{
		"200": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }, success},
		"404": {http.NotFound, nothing},
		"429": {status(429), overloaded},
		"503": {status(503), overloaded},
		"529": {status(529), overloaded},
		"event stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: 1\n\n")
		}, nothing},
		"body cut short": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, failure},
	} {
		t.Run(name, func(t *testing.T) {
			lim := fixed(t, 1)
			srv := serve(t, c.handler, http1)
			res := must.Have(through(lim, srv.Client().Transport).Get(srv.URL))(t)
			readAll(res.Body)
			limittest.Check(t, lim, c.want)
			res.Body.Close()
			limittest.Check(t, lim, c.want)
		})
	}
}

// Package edge tests which error has which outcome.
func TestErrorTeaches(t *testing.T) {
	for _, c := range []struct {
		err  error // nil: a panic
		want limittest.Taught
	}{
		{io.ErrUnexpectedEOF, limittest.Taught{Failed: 1}},
		{&weir.RefusedError{Reason: weir.ReasonQueueFull}, limittest.Taught{Overloaded: 1}},
		{nil, limittest.Taught{Failed: 1}},
	} {
		lim := fixed(t, 1)
		limittest.Unwind(func() {
			_, err := through(lim, roundTrip(func(*http.Request) (*http.Response, error) {
				if c.err == nil {
					panic("boom")
				}
				return nil, c.err
			})).Get("http://x/")
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
		limittest.Check(t, lim, c.want)
	}
}

func TestSlotIsHeldUntilTheBodyEnds(t *testing.T) {
	for name, end := range map[string]func(io.ReadCloser){
		"closed":        func(b io.ReadCloser) { b.Close() },
		"closed twice":  func(b io.ReadCloser) { b.Close(); b.Close() },
		"read":          func(b io.ReadCloser) { readAll(b) },
		"read, closed":  func(b io.ReadCloser) { readAll(b); b.Close() },
		"half, closed":  func(b io.ReadCloser) { readHalf(b); b.Close() },
		"closed, read":  func(b io.ReadCloser) { b.Close(); readHalf(b) },
		"closed by two": func(b io.ReadCloser) { both(func() { b.Close() }, func() { b.Close() }) },
		"read beside":   func(b io.ReadCloser) { both(func() { b.Close() }, func() { readAll(b) }) },
	} {
		t.Run(name, func(t *testing.T) {
			lim := fixed(t, 1)
			client := through(lim, answer(200, strings.NewReader("hello")))
			res := must.Have(client.Get("http://x/"))(t)
			checkInFlight(t, lim, 1)
			if _, err := client.Get("http://x/"); !errors.Is(err, weir.ErrRefused) {
				t.Errorf("error %v while the body is open, want a refusal", err)
			}
			end(res.Body)
			limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
		})
	}
}

func readAll(r io.Reader)  { _, _ = io.Copy(io.Discard, r) }
func readHalf(r io.Reader) { _, _ = r.Read(make([]byte, len("hello")/2)) }

func both(one, other func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		one()
	}()
	other()
	<-done
}

func TestForgottenBodyIsFreedWithItsContext(t *testing.T) {
	for name, want := range map[string]limittest.Taught{"cancelled": {Ignored: 1}, "deadline": {TimedOut: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := fixed(t, 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/", nil)
				res := must.Have(through(lim, answer(200, strings.NewReader("hello"))).Do(req))(t)
				checkInFlight(t, lim, 1)
				if name == "cancelled" {
					cancel()
				}
				<-ctx.Done()
				synctest.Wait()
				limittest.Check(t, lim, want)
				res.Body.Close()
				limittest.Check(t, lim, want)
			})
		})
	}
}

// interrupted is a body whose Read fails once it is closed, and whose Close
// waits for that.
type interrupted struct{ reading, closed, failed chan struct{} }

func (b interrupted) Read([]byte) (int, error) {
	close(b.reading)
	<-b.closed
	return 0, net.ErrClosed
}

func (b interrupted) Close() error {
	close(b.closed)
	<-b.failed
	return nil
}

func TestClosingUnderAReaderBlamesNobody(t *testing.T) {
	lim := fixed(t, 1)
	b := interrupted{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	res := must.Have(through(lim, roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: b}, nil
	})).Get("http://x/"))(t)
	go func() {
		defer close(b.failed)
		if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("error %v, want net.ErrClosed", err)
		}
	}()
	<-b.reading
	res.Body.Close()
	limittest.Check(t, lim, limittest.Taught{Succeeded: 1})
}

type closeRecorder struct {
	io.Reader
	closed int
}

func (c *closeRecorder) Close() error {
	c.closed++
	return nil
}

func TestRefusedRequestIsNotSent(t *testing.T) {
	refusal := &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull, RetryAfter: 3 * time.Second}
	client := through(refusing{refusal}, roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return nil, io.EOF
	}))
	payload := &closeRecorder{Reader: strings.NewReader("payload")}
	_, err := client.Post("http://x/", "text/plain", payload)
	if got, ok := errors.AsType[*weir.RefusedError](err); !ok || got != refusal {
		t.Errorf("error %v, want the refusal", err)
	}
	if payload.closed == 0 {
		t.Error("the request's body is still open")
	}
	if _, err := client.Get("http://x/"); !errors.Is(err, weir.ErrRefused) {
		t.Errorf("error %v without a body, want the refusal", err)
	}
}

func TestTransportExempt(t *testing.T) {
	transport := weirhttp.Transport(answer(200, strings.NewReader("ok")),
		weirhttp.Exempt(weirhttp.One(refusing{weir.ErrQueueFull}), "/healthz"))
	req, _ := http.NewRequest(http.MethodGet, "http://x/healthz", nil)
	res := must.Have(transport.RoundTrip(req))(t)
	res.Body.Close()
}

type idleCloser struct {
	http.RoundTripper
	closed bool
}

func (c *idleCloser) CloseIdleConnections() { c.closed = true }

func TestCloseIdleConnectionsReachesTheBase(t *testing.T) {
	base := &idleCloser{}
	through(fixed(t, 1), base).CloseIdleConnections()
	if !base.closed {
		t.Error("it did not")
	}
	through(fixed(t, 1), roundTrip(nil)).CloseIdleConnections() // which has none
}

// A server that refuses everything is sent one request in each tenth of the time that it names.
func TestServerThatRefusesAll(t *testing.T) {
	for retryAfter, want := range map[string]time.Duration{
		"5":                    5 * time.Second,
		"99999999999999999999": 30 * time.Second,
		"0":                    0,
	} {
		t.Run(retryAfter, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := fixed(t, 2)
				client := through(lim, roundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {retryAfter}}, Body: http.NoBody}, nil
				}))
				for range 32 {
					time.Sleep(40 * time.Millisecond)
					must.Have(client.Get("http://x/"))(t)
				}
				_, err := client.Get("http://x/")
				if refused, ok := errors.AsType[*weir.RefusedError](err); ok != (want > 0) || ok && refused.RetryAfter != want {
					t.Errorf("%v, want to come back in %v", err, want)
				}
			})
		})
	}
}

// A response without a body to wait for gives its slot back at once. The body of an upgraded
// connection stays the one that can be written to.
func TestResponsesWithNothingToRead(t *testing.T) {
	upgraded := struct {
		io.ReadWriteCloser
	}{}
	failed := http.Header{"Content-Type": {"application/grpc"}, "Grpc-Status": {"13"}}
	for _, c := range []struct {
		response *http.Response
		taught   limittest.Taught
	}{
		{&http.Response{StatusCode: http.StatusNoContent}, limittest.Taught{Succeeded: 1}},
		{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, limittest.Taught{Succeeded: 1}},
		{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: failed}, limittest.Taught{Failed: 1}},
		{&http.Response{StatusCode: http.StatusSwitchingProtocols, Body: upgraded}, limittest.Taught{Ignored: 1}},
	} {
		lim := fixed(t, 1)
		before := c.response.Body
		transport := weirhttp.Transport(roundTrip(func(*http.Request) (*http.Response, error) { return c.response, nil }), weirhttp.One(lim))
		req := must.Have(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/", nil))(t)
		res, err := transport.RoundTrip(req)
		if err != nil || res.Body != before {
			t.Errorf("status %d: body %v, %v", res.StatusCode, res.Body, err)
		}
		limittest.Check(t, lim, c.taught)
	}
}
