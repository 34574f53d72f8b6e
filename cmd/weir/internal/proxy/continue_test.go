package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// ask announces a body and waits for leave to send it.
func ask(t *testing.T, address, path string, length int) (conn net.Conn, answers *bufio.Reader, status int) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", path, length)
	answers = bufio.NewReader(conn)
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn, answers, res.StatusCode
}

// What refuses a request says so before the client is asked for the body.
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
		if _, _, status := ask(t, p.address, c.path, 11); status != c.status {
			t.Errorf("%s: status %d, want %d", c.path, status, c.status)
		}
	}
}

// A body that streams is asked for when the upstream asks for it.
func TestUpstreamAsksForAStreamedBody(t *testing.T) {
	const length = 17 << 20 // above buffers.file
	asked, ask100 := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-ask100
		_, _ = io.Copy(io.Discard, r.Body) // sends 100
	}))
	t.Cleanup(upstream.Close)
	p := start(t, fmt.Sprintf("upstreams: {api: {addresses: [%q]}}\n", upstream.URL))
	early := make(chan struct{})
	go func() {
		<-asked
		close(early)
		close(ask100)
	}()
	conn, answers, status := ask(t, p.address, "/", length)
	select {
	case <-early:
	default:
		t.Error("the client was asked before the upstream asked")
	}
	if status != http.StatusContinue {
		t.Fatalf("status %d, want 100", status)
	}
	go func() { _, _ = conn.Write(make([]byte, length)) }()
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", res, err)
	}
}
