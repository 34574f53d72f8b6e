package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

func TestRefusal(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"HTTP/1": http1, "HTTP/2": http2} {
		t.Run(name, func(t *testing.T) {
			admitter := refusing{&weir.RefusedError{Limiter: "secret", Reason: weir.ReasonQueueFull}}
			srv := serve(t, limit(admitter, func(http.ResponseWriter, *http.Request) { t.Error("it ran") }), start)
			res, text := get(t, srv.Client(), srv.URL)
			if res.StatusCode != http.StatusServiceUnavailable || text != "Service Unavailable: queue full\n" {
				t.Errorf("status %d and body %q", res.StatusCode, text)
			}
			for key, want := range map[string]string{
				"Content-Type":           "text/plain; charset=utf-8",
				"X-Content-Type-Options": "nosniff",
				"Cache-Control":          "no-store",
				"Retry-After":            "1",
				"Weir-Refused":           "queue full",
			} {
				if got := res.Header.Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
}

// An admitter of somebody else may refuse without a reason, as with the error of a throttle.
func TestRefusalWithoutAReason(t *testing.T) {
	w := httptest.NewRecorder()
	limit(refusing{weir.ErrOverload}, status(200)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != 503 || w.Body.String() != "Service Unavailable: refused\n" || w.Header().Get("Weir-Refused") != "refused" {
		t.Errorf("status %d, header %v and body %q", w.Code, w.Header(), w.Body)
	}
}

func TestOnRefused(t *testing.T) {
	refusal := &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull, RetryAfter: 10 * time.Second}
	h := weirhttp.New(status(200), weirhttp.One(refusing{fmt.Errorf("wrapped: %w", refusal)}), weirhttp.Config{
		OnRefused: func(w http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, weir.ErrRefused) {
				t.Errorf("error %v, want a refusal", err)
			}
			w.WriteHeader(http.StatusTeapot)
		},
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if seconds, _ := strconv.Atoi(w.Header().Get("Retry-After")); w.Code != 418 || seconds < 10 || seconds > 20 {
		t.Errorf("status %d, Retry-After %d", w.Code, seconds)
	}
}

func TestContextThatEndsInTheQueue(t *testing.T) {
	for _, c := range []struct {
		name  string
		until func(context.Context) (context.Context, context.CancelFunc)
		code  int
		body  string
	}{
		{"client left", context.WithCancel, 499, ""},
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 10*time.Millisecond)
		}, 503, "Service Unavailable: deadline exceeded\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := weir.Must(weir.New(weir.Config{Min: 1, Max: 1, Queue: weir.Queue{Size: 1}}))
				h := limit(lim, func(http.ResponseWriter, *http.Request) { t.Error("it ran") })
				permit := must.Have(lim.Acquire(t.Context()))(t)
				defer permit.Release()

				ctx, leave := c.until(t.Context())
				defer leave()
				w := httptest.NewRecorder()
				go func() {
					synctest.Wait()
					if c.code == 499 {
						leave()
					}
				}()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
				if w.Code != c.code || w.Body.String() != c.body {
					t.Errorf("status %d and body %q, want %d and %q", w.Code, w.Body, c.code, c.body)
				}
			})
		})
	}
}

// stalled is a body that says nothing until it is closed.
type stalled chan struct{}

func (s stalled) Read([]byte) (int, error) { <-s; return 0, net.ErrClosed }

func (s stalled) Close() error {
	select {
	case <-s:
	default:
		close(s)
	}
	return nil
}

func TestRefusalWithABodyThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := make(stalled)
		d := &downstream{answers: []any{&http.Response{StatusCode: 503, Header: http.Header{}, Body: body}}}
		res := must.Have((&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/"))(t)
		res.Body.Close()
		if waited := d.at[1].Sub(d.at[0]); waited > 250*time.Millisecond {
			t.Errorf("waited for %v, want at most a tenth of a second more than the backoff", waited)
		}
		<-body // closed
	})
}

// endless is a body without an end.
type endless struct{ read, closed int }

func (e *endless) Read(p []byte) (int, error) { e.read += len(p); return len(p), nil }
func (e *endless) Close() error               { e.closed++; return nil }

func TestRefusalWithAnEndlessBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &endless{}
		d := &downstream{answers: []any{&http.Response{StatusCode: 503, Header: http.Header{}, Body: body}}}
		res := must.Have((&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/"))(t)
		res.Body.Close()
		if body.read > 8<<10 || body.closed != 1 {
			t.Errorf("%d bytes read, closed %d times", body.read, body.closed)
		}
	})
}
