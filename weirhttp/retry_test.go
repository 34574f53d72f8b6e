package weirhttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

func newClient(t *testing.T, cfg retry.Config) *retry.Client {
	t.Helper()
	return must.Have(retry.New(cfg))(t)
}

// A downstream is a base that answers with one thing after the other, and then with 200. It notes
// the requests.
type downstream struct {
	answers []any // a status, a response or an error
	bodies  []string
	headers []http.Header
	at      []time.Time
}

func (d *downstream) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		body = string(text)
	}
	d.bodies, d.headers, d.at = append(d.bodies, body), append(d.headers, req.Header), append(d.at, time.Now())
	if n := len(d.bodies); n <= len(d.answers) {
		switch a := d.answers[n-1].(type) {
		case error:
			return nil, a
		case *http.Response:
			return a, nil
		case int:
			return answer(a, strings.NewReader("no"))(req)
		}
	}
	return answer(200, strings.NewReader("yes"))(req)
}

// refuses is a response that says when to come back, as given in its header.
func refuses(status int, after string) *http.Response { return headed(status, "Retry-After", after) }

// untouched is a response of a limiter that refused the request.
func untouched(status int) *http.Response {
	return headed(status, weirhttp.RefusedHeader, "queue full")
}

func headed(status int, name, value string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{name: {value}}, Body: io.NopCloser(strings.NewReader("no"))}
}

var errDial = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

func TestWhatIsSentAgain(t *testing.T) {
	const again, once = 2, 1
	for name, c := range map[string]struct {
		method, body string
		answer       any
		header       http.Header
		attempts     int
	}{
		"GET 200":                   {method: "GET", answer: 200, attempts: once},
		"GET 404":                   {method: "GET", answer: 404, attempts: once},
		"GET 500":                   {method: "GET", answer: 500, attempts: once},
		"GET 501":                   {method: "GET", answer: 501, attempts: once},
		"GET 429":                   {method: "GET", answer: 429, attempts: again},
		"GET 502":                   {method: "GET", answer: 502, attempts: again},
		"GET 503":                   {method: "GET", answer: 503, attempts: again},
		"GET 504":                   {method: "GET", answer: 504, attempts: again},
		"GET 529":                   {method: "GET", answer: 529, attempts: again},
		"no method":                 {answer: 503, attempts: again},
		"PUT 503":                   {method: "PUT", body: "x", answer: 503, attempts: again},
		"DELETE 503":                {method: "DELETE", answer: 503, attempts: again},
		"PATCH 503":                 {method: "PATCH", body: "x", answer: 503, attempts: once},
		"POST 503":                  {method: "POST", body: "x", answer: 503, attempts: once},
		"POST 503 with Retry-After": {method: "POST", body: "x", answer: refuses(503, "1"), attempts: once},
		"POST 429 with Retry-After": {method: "POST", body: "x", answer: refuses(429, "0"), attempts: once},
		"POST 503, refused":         {method: "POST", body: "x", answer: untouched(503), attempts: again},
		"POST 429, refused":         {method: "POST", body: "x", answer: untouched(429), attempts: again},
		"POST 500, refused":         {method: "POST", body: "x", answer: untouched(500), attempts: once},
		"POST 502, refused":         {method: "POST", body: "x", answer: untouched(502), attempts: once},
		"POST 400, refused":         {method: "POST", body: "x", answer: untouched(400), attempts: once},
		"POST 504":                  {method: "POST", body: "x", answer: 504, attempts: once},
		"POST with a key":           {method: "POST", body: "x", answer: 503, header: http.Header{"Idempotency-Key": {"7"}}, attempts: again},
		"POST with a key of old":    {method: "POST", body: "x", answer: 503, header: http.Header{"X-Idempotency-Key": {"7"}}, attempts: again},
		"POST with an empty key":    {method: "POST", body: "x", answer: 503, header: http.Header{"Idempotency-Key": {}}, attempts: again},
		"GET, connection lost":      {method: "GET", answer: io.ErrUnexpectedEOF, attempts: again},
		"POST, connection lost":     {method: "POST", body: "x", answer: io.ErrUnexpectedEOF, attempts: once},
		"POST, write failed": {method: "POST", body: "x", answer: &net.OpError{
			Op: "write", Err: io.EOF,
		}, attempts: once},
		"POST, no connection": {method: "POST", body: "x", answer: fmt.Errorf("x: %w",
			errDial), attempts: again},
		"POST, refused on the way": {method: "POST", body: "x", answer: weir.ErrQueueFull, attempts: again},
		"POST, refused by a limiter": {
			method: "POST", body: "x",
			answer: &weir.RefusedError{Reason: weir.ReasonQueueFull}, attempts: again,
		},
		"GET, refused for a bad key": {
			method: "GET", answer: &weir.RefusedError{Reason: weir.ReasonBadKey},
			attempts: once,
		},
		"GET, past MaxWait": {method: "GET", answer: refuses(503, "31"), attempts: once},
		"GET, years ahead": {
			method: "GET", answer: refuses(503, "Fri, 31 Dec 2999 23:59:59 GMT"),
			attempts: once,
		},
		"GET, more than there can be": {method: "GET", answer: refuses(503, strings.Repeat("9", 400)), attempts: once},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &downstream{answers: []any{c.answer}}
				req, _ := http.NewRequest(c.method, "http://x/", strings.NewReader(c.body))
				req.Method = c.method
				maps.Copy(req.Header, c.header)
				before := fmt.Sprint(req.Header)
				res, err := weirhttp.RetryTransport(d, newClient(t, retry.Config{})).RoundTrip(req)
				if len(d.bodies) != c.attempts {
					t.Fatalf("%d attempts, want %d", len(d.bodies), c.attempts)
				}
				for i, body := range d.bodies {
					number := strings.Join(d.headers[i][weirhttp.AttemptHeader], " ")
					if want := map[int]string{0: "", 1: "2"}[i]; body != c.body || number != want {
						t.Errorf("attempt %d: body %q, %s %q, want %q and %q",
							i+1, body, weirhttp.AttemptHeader, number, c.body, want)
					}
				}
				if after := fmt.Sprint(req.Header); after != before {
					t.Errorf("the caller's header is %s, was %s", after, before)
				}
				if err != nil {
					if want, ok := c.answer.(error); !ok || !errors.Is(err, want) || c.attempts == again {
						t.Errorf("error %v", err)
					}
					return
				}
				text, err := io.ReadAll(res.Body)
				if want := map[bool]string{true: "yes", false: "no"}[c.attempts == again]; err != nil ||
					string(text) != want && c.answer != 200 {
					t.Errorf("body %q, %v, want %q", text, err, want)
				}
				res.Body.Close()
			})
		})
	}
}

// A body that cannot be had again is sent once, and the answer comes back as it is.
func TestBodyWithoutGetBody(t *testing.T) {
	d := &downstream{answers: []any{refuses(503, "1")}}
	req, _ := http.NewRequest(http.MethodPut, "http://x/", io.MultiReader(strings.NewReader("stream")))
	res := must.Have(weirhttp.RetryTransport(d, newClient(t, retry.Config{})).RoundTrip(req))(t)
	text, _ := io.ReadAll(res.Body)
	if len(d.bodies) != 1 || d.bodies[0] != "stream" || res.StatusCode != 503 || string(text) != "no" {
		t.Errorf("bodies %q, status %d, answer %q", d.bodies, res.StatusCode, text)
	}
}

func TestGetBodyThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req, _ := http.NewRequest(http.MethodPut, "http://x/", strings.NewReader("x"))
		req.GetBody = func() (io.ReadCloser, error) { return nil, io.ErrNoProgress }
		d := &downstream{answers: []any{503}}
		if _, err := weirhttp.RetryTransport(d, newClient(t, retry.Config{})).RoundTrip(req); !errors.Is(err, io.ErrNoProgress) || len(d.bodies) != 1 {
			t.Errorf("error %v after %d attempts", err, len(d.bodies))
		}
	})
}

func TestRetryOverARealConnection(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"HTTP/1.1": http1, "HTTP/2": http2} {
		t.Run(name, func(t *testing.T) {
			type request struct{ from, attempt, body string }
			got := make(chan request, 10)
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				attempt := r.Header.Get(weirhttp.AttemptHeader)
				got <- request{r.RemoteAddr, attempt, string(text)}
				if attempt == "" {
					w.Header().Set(weirhttp.RefusedHeader, "queue full")
					http.Error(w, "busy", http.StatusServiceUnavailable)
				}
			}), start)
			client := &http.Client{Transport: weirhttp.RetryTransport(srv.Client().Transport,
				newClient(t, retry.Config{Backoff: time.Millisecond}))}
			res := must.Have(client.Post(srv.URL, "text/plain", bytes.NewBufferString("order")))(t)
			res.Body.Close()
			if len(got) != 2 {
				t.Fatalf("%d attempts, want 2", len(got))
			}
			first, second := <-got, <-got
			if want := (request{first.from, "", "order"}); first != want {
				t.Errorf("first attempt %+v, want %+v", first, want)
			}
			if want := (request{first.from, "2", "order"}); second != want { // over the same connection
				t.Errorf("second attempt %+v, want %+v", second, want)
			}
			client.CloseIdleConnections()
		})
	}
}

func TestRetryKeepsToTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaving, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { leave(io.ErrClosedPipe) })
		d := &downstream{answers: []any{refuses(503, "4")}}
		req, _ := http.NewRequestWithContext(leaving, http.MethodPut, "http://x/", strings.NewReader("x"))
		again := &closeRecorder{Reader: strings.NewReader("x")}
		req.GetBody = func() (io.ReadCloser, error) { return again, nil }
		if _, err := weirhttp.RetryTransport(d, newClient(t, retry.Config{})).RoundTrip(req); !errors.Is(err, io.ErrClosedPipe) || len(d.at) != 1 {
			t.Errorf("error %v after %d attempts, want the cause of the cancellation", err, len(d.at))
		}
		if again.closed != 1 {
			t.Errorf("the body of the attempt that was not made was closed %d times", again.closed)
		}
	})
}

// A caller that leaves says nothing about the downstream, and a deadline that passes does.
func TestCallersThatLeaveDoNotThrottle(t *testing.T) {
	for name, c := range map[string]struct {
		end       func(context.Context) (context.Context, context.CancelFunc)
		throttled bool
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, false},
		"late": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, -1)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			rc := newClient(t, retry.Config{})
			client := weirhttp.RetryTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, r.Context().Err()
			}), rc)
			for range 200 {
				ctx, cancel := c.end(t.Context())
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/", nil)
				if _, err := client.RoundTrip(req); err == nil {
					t.Fatal("no error")
				}
				cancel()
			}
			if n := rc.Snapshot().Throttled; (n > 0) != c.throttled {
				t.Errorf("%d throttled", n)
			}
		})
	}
}

func TestThrottledRequestIsNotSent(t *testing.T) {
	rc := newClient(t, retry.Config{Name: "search", Attempts: 2, Backoff: time.Millisecond})
	sent := 0
	client := &http.Client{Transport: weirhttp.RetryTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		sent++
		r.Body.Close()
		return answer(503, strings.NewReader("no"))(r)
	}), rc)}
	for range 200 {
		payload := &closeRecorder{Reader: strings.NewReader("payload")}
		before := sent
		res, err := client.Post("http://x/", "", payload)
		if err == nil {
			res.Body.Close()
			continue
		}
		if refused, ok := errors.AsType[*weir.RefusedError](err); !ok || refused.Limiter != "search" ||
			refused.Reason != weir.ReasonOverload {
			t.Fatalf("error %v", err)
		}
		if sent != before || payload.closed == 0 {
			t.Fatalf("sent %v, body closed %d times", sent != before, payload.closed)
		}
	}
	if got := rc.Snapshot(); got.Throttled < 100 || got.Attempts != uint64(sent) {
		t.Errorf("%+v, %d sent", got, sent)
	}
}

func TestRetriedResponseWithoutABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &downstream{answers: []any{&http.Response{StatusCode: 503, Header: http.Header{}}}}
		req, _ := http.NewRequest(http.MethodGet, "http://h/", nil)
		res := must.Have(weirhttp.RetryTransport(d, newClient(t, retry.Config{})).RoundTrip(req))(t)
		res.Body.Close()
		if res.StatusCode != http.StatusOK || len(d.bodies) != 2 {
			t.Errorf("status %d after %d tries, want 200 after two", res.StatusCode, len(d.bodies))
		}
	})
}
