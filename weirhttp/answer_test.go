package weirhttp_test

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

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
