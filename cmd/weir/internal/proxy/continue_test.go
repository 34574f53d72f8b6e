package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// ask announces a body and waits for permission to send it.
func ask(t *testing.T, address, path, framing string) (conn net.Conn, answers *bufio.Reader, status int) {
	t.Helper()
	conn = must.Have(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n%s\r\n\r\n", path, framing)
	answers = bufio.NewReader(conn)
	res := must.Have(http.ReadResponse(answers, nil))(t)
	return conn, answers, res.StatusCode
}

// Each layer that refuses a request does so before the client sends the body.
func TestRefusalsBeforeContinue(t *testing.T) {
	leave, held := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/held":
			close(held)
			<-leave
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(upstream.Close)
	p := start(t, fmt.Sprintf(`
upstreams: {api: {addresses: [%q]}}
compartments:
  full: {law: fixed, initial: 1, queue: {size: 0}}
  broken: {breaker: {failures: 1, open: 1h}}
routes:
  - {path: /short, max_body: 10}
  - {path: /held, compartment: full}
  - {path: /broken, compartment: broken}
  - {path: /api}
`, upstream.URL))
	url := "http://" + p.address + "/held"
	go func() {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
		}
	}()
	<-held
	defer close(leave)
	p.get("/broken")
	for _, c := range []struct {
		path   string
		status int
	}{{"/unknown", 404}, {"/short", 413}, {"/held", 503}, {"/broken", 503}, {"/api", 100}} {
		if _, _, status := ask(t, p.address, c.path, "Content-Length: 11"); status != c.status {
			t.Errorf("%s: status %d, want %d", c.path, status, c.status)
		}
	}
}

const (
	tooLong = 17 << 20 // above buffers.file
	length  = "Content-Length: 17825792"
	chunked = "Transfer-Encoding: chunked"
)

// The client sends a streamed body when the upstream asks for it.
func TestUpstreamAsksForAStreamedBody(t *testing.T) {
	asked, ask100 := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-ask100
		_, _ = io.Copy(io.Discard, r.Body) // sends the status 100
	}))
	t.Cleanup(upstream.Close)
	p := start(t, file(upstream.URL, "routes: [{body: stream}]"))
	for framing, body := range map[string]string{
		length:  strings.Repeat("x", tooLong),
		chunked: "5\r\nhello\r\n0\r\n\r\n",
	} {
		early := make(chan struct{})
		go func() {
			<-asked
			close(early)
			ask100 <- struct{}{}
		}()
		conn, answers, status := ask(t, p.address, "/", framing)
		select {
		case <-early:
		default:
			t.Errorf("%s: the client was asked before the upstream asked", framing)
		}
		if status != http.StatusContinue {
			t.Fatalf("%s: status %d, want 100", framing, status)
		}
		go io.WriteString(conn, body) // an error shows in the answer
		if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", framing, res, err)
		}
	}
}

// If an upstream refuses a body by its header, the client does not send it.
func TestUpstreamRefusesBeforeContinue(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(upstream.Close)
	p := start(t, file(upstream.URL, "routes: [{body: stream}]"))
	for _, framing := range []string{length, chunked} {
		if _, _, status := ask(t, p.address, "/", framing); status != http.StatusForbidden {
			t.Errorf("%s: status %d, want 403", framing, status)
		}
	}
}
