package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

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
			p := fakes(t, 2)
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
