package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// echo answers with the body of the request.
func echo(t *testing.T) string {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(backend.Close)
	return backend.URL
}

// dial opens a connection to the proxy and sends text.
func dial(t *testing.T, p *running, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func readAnswer(t *testing.T, from *bufio.Reader) (status int, body string) {
	t.Helper()
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode == http.StatusContinue || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer.StatusCode, ""
	}
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

func TestSlowSenderHoldsNoSlot(t *testing.T) {
	p := startProxy(t, echo(t), "--max", "1")
	conn, answers := dial(t, p, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	if status, _ := readAnswer(t, answers); status != http.StatusContinue {
		t.Fatalf("status %d, want 100: the proxy is reading the body", status)
	}
	_, _ = io.WriteString(conn, "first")
	if status, _ := p.get(p.address, "/"); status != http.StatusOK {
		t.Errorf("another request meanwhile: status %d", status)
	}
	_, _ = io.WriteString(conn, "final")
	if status, body := readAnswer(t, answers); status != http.StatusOK || body != "firstfinal" {
		t.Errorf("the slow one: %d %q", status, body)
	}
}

func TestStalledSender(t *testing.T) {
	for _, test := range []struct {
		name, framing, part string
	}{
		{"short body", "Content-Length: 10", "half"},
		{"long body", "Content-Length: 100000", "half"},
		{"upload", "Content-Length: 100000000", "half"},
		{"chunks", "Transfer-Encoding: chunked", "4\r\nhalf\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startProxy(t, echo(t), "--body-timeout", "300ms")
			_, answers := dial(t, p, "POST / HTTP/1.1\r\nHost: h\r\n"+test.framing+"\r\n\r\n"+test.part)
			if status, _ := readAnswer(t, answers); status != http.StatusRequestTimeout {
				t.Errorf("status %d, want 408", status)
			}
			if s := p.state(); s.Admitted != 0 {
				t.Errorf("it took a slot before its body was whole: %+v", s)
			}
		})
	}
}

func TestBrokenBodyIsTheClientsFault(t *testing.T) {
	p := startProxy(t, echo(t))
	_, answers := dial(t, p, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
	if status, _ := readAnswer(t, answers); status != http.StatusBadRequest {
		t.Errorf("status %d, want 400", status)
	}
	if s := p.state(); s.Admitted != 0 {
		t.Errorf("it took a slot, though it is short: %+v", s)
	}
}

func TestStalledReader(t *testing.T) {
	abandoned := make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(abandoned)
		for page := make([]byte, 1<<20); ; {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}))
	defer backend.Close()
	p := startProxy(t, backend.URL, "--body-timeout", "50ms")
	dial(t, p, "GET / HTTP/1.1\r\nHost: h\r\n\r\n") // and never reads the response

	<-abandoned
	p.until("the slot is free", func(s state) bool { return s.Completed == 1 && s.InFlight == 0 })
	if s := p.state(); s.Succeeded != 1 || s.Failed != 0 {
		t.Errorf("the limit learns how long the first byte took, and nothing of the client: %+v", s)
	}
}

func TestKeepAliveOutlivesTheBodyTimeout(t *testing.T) {
	backend, _ := holding(t)
	p := startProxy(t, backend, "--body-timeout", "30ms", "--timeout", "100ms")
	conn, answers := dial(t, p, "POST /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
	if status, _ := readAnswer(t, answers); status != http.StatusGatewayTimeout {
		t.Errorf("an upstream slower than the body timeout: status %d, want 504", status)
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if status, _ := readAnswer(t, answers); status != http.StatusOK {
		t.Errorf("the next request on the connection: status %d", status)
	}
	if status, _ := p.get(p.address, "/hold"); status != http.StatusGatewayTimeout {
		t.Fatalf("status %d, want 504: the body timeout has passed", status)
	}
	_, _ = io.WriteString(conn, "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n")
	if status, _ := readAnswer(t, answers); status != http.StatusNoContent {
		t.Errorf("an answer without a body, later: status %d", status)
	}
}

func TestWebSocketUpgrade(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			<-r.Context().Done()
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(conn, rw)
	}))
	defer backend.Close()
	p := startProxy(t, backend.URL, "--timeout", "20ms", "--body-timeout", "20ms")
	conn, answers := dial(t, p, strings.Join([]string{
		"GET /socket HTTP/1.1", "Host: h", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
	}, "\r\n"))
	if status, _ := readAnswer(t, answers); status != http.StatusSwitchingProtocols {
		t.Fatalf("status %d, want 101", status)
	}
	p.until("its slot is free", func(s state) bool { return s.Completed == 1 && s.InFlight == 0 })
	if status, _ := p.get(p.address, "/slow"); status != http.StatusGatewayTimeout {
		t.Fatalf("status %d, want 504: the timeouts have passed", status)
	}

	frame := "\x81\x05hello"
	_, _ = io.WriteString(conn, frame)
	got := make([]byte, len(frame))
	if _, err := io.ReadFull(answers, got); err != nil || string(got) != frame {
		t.Errorf("echo: %q, %v", got, err)
	}

	p.stop()
	if err := p.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := answers.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the socket outlived the proxy: %v", err)
	}
}
