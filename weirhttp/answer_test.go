package weirhttp_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

func TestRetryAfterIsHeeded(t *testing.T) {
	for after, want := range map[string]struct{ least, most time.Duration }{
		"5":                             {5 * time.Second, 10 * time.Second},
		"0":                             {50 * time.Millisecond, 150 * time.Millisecond},
		"Sat, 01 Jan 2000 00:00:10 GMT": {10 * time.Second, 20 * time.Second}, // after the response's Date
		"Wed, 01 Jan 1992 00:00:10 GMT": {50 * time.Millisecond, 150 * time.Millisecond},
		"-5":                            {50 * time.Millisecond, 150 * time.Millisecond},
		"+5":                            {50 * time.Millisecond, 150 * time.Millisecond},
		"5.5":                           {50 * time.Millisecond, 150 * time.Millisecond},
		"0x5":                           {50 * time.Millisecond, 150 * time.Millisecond},
		"":                              {50 * time.Millisecond, 150 * time.Millisecond},
		"soon\x00":                      {50 * time.Millisecond, 150 * time.Millisecond},
		"١":                             {50 * time.Millisecond, 150 * time.Millisecond},
	} {
		t.Run(after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 20 {
					d := &downstream{answers: []any{refuses(503, after)}}
					d.answers[0].(*http.Response).Header.Set("Date", "Sat, 01 Jan 2000 00:00:00 GMT")
					res, err := (&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/")
					if err != nil {
						t.Fatal(err)
					}
					res.Body.Close()
					if waited := d.at[1].Sub(d.at[0]); waited < want.least || waited > want.most {
						t.Errorf("waited for %v, want %v to %v", waited, want.least, want.most)
					}
				}
			})
		})
	}
}

// A date without a Date in the response counts from our own clock.
func TestRetryAfterWithoutADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &downstream{answers: []any{refuses(503, time.Now().UTC().Add(10*time.Second).Format(http.TimeFormat))}}
		res, err := (&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if waited := d.at[1].Sub(d.at[0]); waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("waited for %v", waited)
		}
	})
}

// A body that breaks off is the caller's to deal with.
func TestBodyThatBreaksOff(t *testing.T) {
	var attempts atomic.Int32
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		attempts.Add(1)
		fmt.Fprint(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}), http1)
	res, err := (&http.Client{Transport: weirhttp.RetryTransport(srv.Client().Transport, newClient(t, retry.Config{}))}).Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err == nil || string(text) != "half" || attempts.Load() != 1 {
		t.Errorf("%q, %v after %d attempts", text, err, attempts.Load())
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
		res, err := (&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/")
		if err != nil {
			t.Fatal(err)
		}
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
		res, err := (&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{}))}).Get("http://x/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if body.read > 8<<10 || body.closed != 1 {
			t.Errorf("%d bytes read, closed %d times", body.read, body.closed)
		}
	})
}
