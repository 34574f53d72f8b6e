package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// The codes of errors of HTTP/2.
const protocolError, refusedStream = "\x00\x00\x00\x01", "\x00\x00\x00\x07"

func resets(code string) func(stream uint32) string {
	return func(stream uint32) string { return frame(reset, 0, stream, code) }
}

// A reluctant server of HTTP/2 refuses the first request, once it has the body, and answers others.
type reluctant struct {
	refusal func(stream uint32) string // a frame
	always  bool

	mu     sync.Mutex
	bodies []string
}

func (s *reluctant) serve(conn net.Conn) {
	_, _ = io.CopyN(io.Discard, conn, int64(len(preface)))
	// A window of 1 MiB for each request, and for the connection.
	_, _ = io.WriteString(conn, frame(settings, 0, 0, "\x00\x04\x00\x10\x00\x00")+frame(windowUpdate, 0, 0, "\x00\x10\x00\x00"))
	var body bytes.Buffer
	for {
		kind, flags, stream, payload, err := readFrame(conn)
		if err != nil {
			return
		}
		ends := flags&endStream != 0 // of settings, that they are acknowledged
		switch kind {
		case settings:
			if !ends {
				_, _ = io.WriteString(conn, frame(settings, 1, 0, ""))
			}
		case data, headers:
			if kind == data {
				body.Write(payload)
			}
			if ends {
				s.answer(conn, stream, body.String())
				body.Reset()
			}
		}
	}
}

func (s *reluctant) answer(conn net.Conn, stream uint32, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies = append(s.bodies, body); len(s.bodies) == 1 || s.always {
		_, _ = io.WriteString(conn, s.refusal(stream))
		return
	}
	_, _ = io.WriteString(conn, frame(headers, endStream|endHeaders, stream, status200))
}

// Of a request with an error of the protocol, the server may have begun its work.
func TestRequestsOfHTTP2ThatMayHaveBegunAreNotSentAgain(t *testing.T) {
	s := &reluctant{refusal: resets(protocolError)}
	p := start(t, fmt.Sprintf(`upstreams: {api: {addresses: ["http://%s"], protocol: http2}}`, tcptest.Serve(t, s.serve)))
	answer := must.Have(http.Post("http://"+p.address, "text/plain", strings.NewReader("body")))(t)
	answer.Body.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer.StatusCode != http.StatusBadGateway || len(s.bodies) != 1 {
		t.Errorf("status %d, sent %d times", answer.StatusCode, len(s.bodies))
	}
}

// net/http would send a request without a body thousands of times a second.
func TestTriesOfRequestsWithoutABodyAreBounded(t *testing.T) {
	s := &reluctant{always: true, refusal: resets(protocolError)}
	p := start(t, fmt.Sprintf(`upstreams: {api: {addresses: ["http://%s"], protocol: http2}}
routes: [{path: /, upstream: api, timeout: 20s}]`, tcptest.Serve(t, s.serve)))
	status, _ := p.get("/")
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.bodies); status != http.StatusBadGateway || n > 21 {
		t.Errorf("status %d, sent %d times", status, n)
	}
}

// A server of HTTP/2 says which requests it has not begun, as when it restarts or has too many.
// They are sent again, with their bodies, and no client or law hears of it.
func TestRefusedRequestsOfHTTP2AreSentAgain(t *testing.T) {
	for how, refusal := range map[string]func(uint32) string{
		"GOAWAY":         func(uint32) string { return frame(goAway, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00") },
		"REFUSED_STREAM": resets(refusedStream),
	} {
		for kind, size := range map[string]int{"text/plain": 100, "text/html": 200_000, "application/grpc": 100} {
			t.Run(fmt.Sprint(how, " ", kind), func(t *testing.T) {
				s := &reluctant{refusal: refusal}
				p := start(t, fmt.Sprintf(`upstreams: {api: {addresses: ["http://%s"], protocol: http2}}`, tcptest.Serve(t, s.serve)))
				body := strings.Repeat("0123456789", size/10)
				answer := must.Have(http.Post("http://"+p.address, kind, io.MultiReader(strings.NewReader(body))))(t)
				answer.Body.Close()
				s.mu.Lock()
				defer s.mu.Unlock()
				if answer.StatusCode != http.StatusOK || len(s.bodies) != 2 || s.bodies[0] != body || s.bodies[1] != body {
					t.Errorf("status %d, %d bodies", answer.StatusCode, len(s.bodies))
				}
				if text := p.metrics(); strings.Contains(text, `outcome="failure"} 1`) {
					t.Errorf("a failure in\n%s", text)
				}
			})
		}
	}
}
