package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// serve calls handle for each connection, and returns its URL.
func serve(t testing.TB, handle func(net.Conn)) (url string) {
	t.Helper()
	return "http://" + tcptest.Serve(t, handle)
}

// replies returns a server that reads a request, writes the text and closes.
func replies(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			io.WriteString(conn, text)
		}
	}
}

func reset(conn net.Conn) {
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// A server's error before the headers of its response is an error and a failure; in the body
// it is an error of the body.
func TestServersThatMisbehave(t *testing.T) {
	for name, test := range map[string]struct {
		handle   func(conn net.Conn, timeout func())
		inBody   bool
		failures uint64
	}{
		"closes at once":     {does(func(net.Conn) {}), false, 1},
		"resets":             {does(reset), false, 1},
		"closes early":       {says("HTTP/1.1 200 OK\r\nContent-"), false, 1},
		"garbage":            {says("SSH-2.0-OpenSSH_9.2p1\r\n"), false, 1},
		"status 0":           {says("HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n"), false, 1},
		"status 99":          {says("HTTP/1.1 099 None\r\nContent-Length: 0\r\n\r\n"), false, 1},
		"endless header":     {does(endlessHeader), false, 1},
		"endless early":      {does(endlessEarly), false, 1},
		"hangs":              {stops(""), false, 1},
		"slow headers":       {stops("HTTP/1.1 200 OK\r\n"), false, 1},
		"less than it says":  {says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), true, 0},
		"resets in the body": {does(resetInBody), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p, _ := started(t, defaults(serve(t, func(conn net.Conn) { test.handle(conn, func() { cancel(weir.ErrExecutionTimeout) }) })))
			res, err := roundTrip(p, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil))
			if (err == nil) != test.inBody {
				t.Fatalf("error %v before the body", err)
			}
			if err == nil {
				if _, err = io.Copy(io.Discard, res.Body); err == nil {
					t.Error("no error of the body")
				}
				res.Body.Close()
			} else if !strings.HasPrefix(err.Error(), "upstream api, http://127.0.0.1:") {
				t.Errorf("error %q does not say where", err)
			}
			if s := p.Snapshot()[0]; s.Failures != test.failures || s.InFlight != 0 || s.Requests != 1 {
				t.Errorf("want 1 request, %d failures, nothing in flight: %+v", test.failures, s)
			}
		})
	}
}

func endlessHeader(conn net.Conn) {
	replies("HTTP/1.1 200 OK\r\n")(conn)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 1000)); err != nil {
			return
		}
	}
}

func endlessEarly(conn net.Conn) {
	replies("")(conn)
	for {
		if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"); err != nil {
			return
		}
	}
}

func resetInBody(conn net.Conn) {
	replies("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")(conn)
	reset(conn)
}

func does(handle func(net.Conn)) func(net.Conn, func()) {
	return func(conn net.Conn, _ func()) { handle(conn) }
}

func says(text string) func(net.Conn, func()) { return does(replies(text)) }

// stops replies with the text, and then stalls until the proxy gives up.
func stops(text string) func(net.Conn, func()) {
	return func(conn net.Conn, timeout func()) {
		replies(text)(conn)
		timeout()
		io.Copy(io.Discard, conn)
	}
}

func TestEarlyResponsesArePassedOn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range maxEarly {
			w.WriteHeader(http.StatusEarlyHints)
		}
	}))
	defer server.Close()
	p, _ := started(t, defaults(server.URL))
	early := 0
	res, done, err := p.Send(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil), caller{informed: func(int) error { early++; return nil }})
	if err != nil || early != maxEarly {
		t.Fatalf("%v, %d early responses, want %d", err, early, maxEarly)
	}
	res.Body.Close()
	done()
}

func TestARequestIsInFlightUntilItIsDone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	p, _ := started(t, defaults(server.URL))
	res, done, err := p.Send(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil), caller{})
	must.Do(t, err)
	res.Body.Close()
	if n := p.Snapshot()[0].InFlight; n != 1 {
		t.Errorf("%d in flight before done, want 1", n)
	}
	done()
	if n := p.Snapshot()[0].InFlight; n != 0 {
		t.Errorf("%d in flight after done, want 0", n)
	}
}

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

// A server that answers before it has read a long body, and closes, is not at fault. Clients could
// otherwise have it ejected.
func TestAnswersBeforeTheBodyIsRead(t *testing.T) {
	closed := make(chan struct{})
	p, _ := started(t, defaults(serve(t, func(conn net.Conn) {
		replies("HTTP/1.1 413 Too Long\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlong")(conn)
		conn.Close()
		closed <- struct{}{}
	})))
	for range 200 {
		long := strings.NewReader(strings.Repeat("x", 1<<16))
		rest := readerFunc(func([]byte) (int, error) { <-closed; return 0, io.EOF })
		req := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(long, rest, strings.NewReader("x")))
		if status, err := send(p, req); status != http.StatusRequestEntityTooLarge || err != nil {
			t.Fatalf("status %d, %v", status, err)
		}
	}
	if s := p.Snapshot()[0]; s.Failures != 0 {
		t.Errorf("%d failures", s.Failures)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Without an answer, the error says what became of the connection.
func TestResetWithinABody(t *testing.T) {
	p, _ := started(t, defaults(serve(t, func(conn net.Conn) { replies("")(conn); reset(conn) })))
	body := strings.NewReader(strings.Repeat("x", 1<<24))
	_, err := send(p, httptest.NewRequest(http.MethodPost, "/", body))
	if s := p.Snapshot()[0]; !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) || s.Failures != 1 {
		t.Errorf("%v, %d failures", err, s.Failures)
	}
}

// Either side of an upgraded connection may end its half alone.
func TestHalfOfAnUpgradedConnection(t *testing.T) {
	p, _ := started(t, defaults(serve(t, func(conn net.Conn) {
		replies("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")(conn)
		all, _ := io.ReadAll(conn)
		conn.Write(all)
	})))
	res := must.Have(roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil)))(t)
	defer res.Body.Close()
	connection := res.Body.(*body).ReadCloser.(interface {
		io.ReadWriter
		CloseWrite() error
	})
	io.WriteString(connection, "hello")
	must.Do(t, connection.CloseWrite())
	if text, err := io.ReadAll(connection); string(text) != "hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
