package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestProxyPassesRequestsOn(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Host, r.Header.Get("X-Forwarded-For"), body)
	}))
	defer backend.Close()
	p := startProxy(t, backend.URL+"/base")

	answer, err := http.Post("http://"+p.address+"/a/b?c=d", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, _ := io.ReadAll(answer.Body)
	if want := "POST /base/a/b?c=d " + p.address + " 127.0.0.1 body"; string(got) != want {
		t.Errorf("the backend saw\n%s, want\n%s", got, want)
	}
	p.until("the request is counted", func(s state) bool { return s.Completed == 1 && s.Failed == 0 && s.InFlight == 0 })
}

func TestRefusal(t *testing.T) {
	backend, release := holding(t)
	defer release()
	p := startProxy(t, backend, "--max", "1", "--queue", "0", "--exempt", "/healthz")
	go p.ask(t.Context(), p.address, "/hold")
	p.until("one is in flight", func(s state) bool { return s.InFlight == 1 })

	answer, err := p.ask(t.Context(), p.address, "/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("answer: %s, Retry-After %q", answer.Status, answer.Header.Get("Retry-After"))
	}
	if refused := p.state().Refused["limit reached"]; refused != 1 {
		t.Errorf("%d counted as refused, want 1", refused)
	}
	if status, _ := p.get(p.address, "/healthz"); status != http.StatusOK {
		t.Errorf("the exempt path: status %d", status)
	}
	if status, _ := p.get(p.admin, "/-/weir/healthz"); status != http.StatusOK {
		t.Errorf("shedding is healthy: status %d", status)
	}
}

func TestExecutionTimeout(t *testing.T) {
	backend, _ := holding(t)
	p := startProxy(t, backend, "--timeout", "20ms")
	if status, _ := p.get(p.address, "/hold"); status != http.StatusGatewayTimeout {
		t.Errorf("status %d, want 504", status)
	}
	p.until("it counts as a timeout", func(s state) bool { return s.TimedOut == 1 && s.InFlight == 0 })
}

func TestShutdownEndsAfterItsGrace(t *testing.T) {
	backend, _ := holding(t)
	p := startProxy(t, backend, "--grace", "20ms")
	go p.ask(context.Background(), p.address, "/hold")
	p.until("it is in flight", func(s state) bool { return s.InFlight == 1 })

	p.stop()
	err := p.wait()
	if status := exitStatus(err, io.Discard); status != 1 || !strings.Contains(err.Error(), "--grace, which is 20ms") {
		t.Errorf("exit status %d with %v", status, err)
	}
}

func TestBodyTimeout(t *testing.T) {
	backend, _ := holding(t)
	p := startProxy(t, backend, "--body-timeout", "20ms")
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status %d, want 408", answer.StatusCode)
	}
}

// The socket's address in the proxy's output can be pasted.
func TestAdminOnASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "admin")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	out := new(bytes.Buffer)
	args := []string{"proxy", "--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", "unix:" + socket}
	if err := run(ctx, args, environmentOf(""), out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if want := "curl --unix-socket " + socket + " http://localhost/-/weir/snapshot\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", out, want)
	}
}
