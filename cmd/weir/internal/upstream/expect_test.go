package upstream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An announced body is sent when the server asks for it, and otherwise after a second: old
// servers do not know 100 Continue (RFC 9110, 10.1.1).
func TestExpect(t *testing.T) {
	for _, asks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPool(t, defaults("http://10.0.0.1:80"), nil)
			client, server := net.Pipe()
			transport := p.addresses[0].transport.(*http.Transport)
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return client, nil }
			defer transport.CloseIdleConnections()
			go func() {
				got, err := http.ReadRequest(bufio.NewReader(server))
				if err != nil {
					t.Error(err)
					return
				}
				announced := time.Now()
				if asks {
					fmt.Fprint(server, "HTTP/1.1 100 Continue\r\n\r\n")
				}
				body, err := io.ReadAll(got.Body)
				want := time.Second
				if asks {
					want = 0
				}
				if waited := time.Since(announced); string(body) != "hello" || err != nil || waited != want {
					t.Errorf("asks %v: %q, %v after %v, want the body after %v", asks, body, err, waited, want)
				}
				fmt.Fprint(server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}()
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("hello"))
			req.Header.Set("Expect", "100-continue")
			res, _, err := p.Send(t.Context(), req, caller{informed: func(code int) error {
				t.Errorf("the client receives a %d, though the server sends its own when the body is read", code)
				return nil
			}})
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("asks %v: %v, %v", asks, res, err)
			}
		})
	}
}
