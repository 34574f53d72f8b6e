package main

import (
	"bytes"
	"context"
	"errors"
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

// The upstream may still process a request whose client has given up.
func TestClientDisconnects(t *testing.T) {
	backend, release := holding(t)
	p := startProxy(t, backend)
	ctx, leave := context.WithCancel(t.Context())
	go p.ask(ctx, p.address, "/hold")
	p.until("it is in flight", func(s state) bool { return s.InFlight == 1 })

	leave()
	release()
	p.until("the slot is free", func(s state) bool { return s.InFlight == 0 })
	if s := p.state(); s.Succeeded != 1 || s.Failed != 0 || s.TimedOut != 0 {
		t.Errorf("the limit learns of the upstream, and nothing of the client: %+v", s)
	}
	p.stop()
	if err := p.wait(); err != nil || strings.Contains(p.stderr.String(), "WARN") {
		t.Errorf("ended with %v, stderr: %s", err, p.stderr)
	}
}

func TestUpstreamDiesAndComesBack(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") })
	backend := httptest.NewServer(handler)
	p := startProxy(t, backend.URL)
	if status, _ := p.get(p.address, "/"); status != http.StatusOK {
		t.Fatalf("alive: status %d", status)
	}

	backend.Close()
	if status, _ := p.get(p.address, "/"); status != http.StatusBadGateway {
		t.Errorf("dead: status %d, want 502", status)
	}
	p.until("the failure is counted", func(s state) bool { return s.Failed == 1 && s.InFlight == 0 })
	eventually(t, "a line about it", func() bool {
		return strings.Contains(p.stderr.String(), "failures: 1, last: ")
	})

	listener, err := net.Listen("tcp", backend.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	again.Start()
	defer again.Close()
	if status, _ := p.get(p.address, "/"); status != http.StatusOK {
		t.Errorf("back: status %d", status)
	}
}

func TestUpstreamPanics(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, "half an answer")
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}))
	backend.Start()
	defer backend.Close()
	p := startProxy(t, backend.URL)

	if status, _ := p.get(p.address, "/"); status != http.StatusBadGateway {
		t.Errorf("status %d, want 502", status)
	}
	answer, err := p.ask(t.Context(), p.address, "/late")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.ReadAll(answer.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the half answer must not pass for a whole one: %v", err)
	}
	p.until("both are failures", func(s state) bool { return s.Failed == 2 && s.InFlight == 0 })
}

func TestExecutionTimeout(t *testing.T) {
	backend, _ := holding(t)
	p := startProxy(t, backend, "--timeout", "20ms")
	if status, _ := p.get(p.address, "/hold"); status != http.StatusGatewayTimeout {
		t.Errorf("status %d, want 504", status)
	}
	p.until("it counts as a timeout", func(s state) bool { return s.TimedOut == 1 && s.InFlight == 0 })
}

func TestShutdownFinishesWhatIsInFlight(t *testing.T) {
	backend, release := holding(t)
	p := startProxy(t, backend)
	answered := make(chan error, 1)
	go func() {
		answer, err := p.ask(context.Background(), p.address, "/hold")
		if err == nil {
			_, err = io.ReadAll(answer.Body)
		}
		answered <- err
	}()
	p.until("it is in flight", func(s state) bool { return s.InFlight == 1 })

	p.stop()
	eventually(t, "no other request gets in", func() bool {
		conn, err := net.Dial("tcp", p.address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	if status, _ := p.get(p.admin, "/-/weir/healthz"); status != http.StatusServiceUnavailable {
		t.Errorf("stopping: status %d, want 503", status)
	}
	release()
	if err := <-answered; err != nil {
		t.Errorf("the request in flight: %v", err)
	}
	if err := p.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
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
