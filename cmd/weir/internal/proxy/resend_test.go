package proxy

import (
	"bytes"
	"encoding/binary"
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

// The types of frames of HTTP/2.
const (
	dataFrame, headersFrame, resetFrame, settingsFrame, goAwayFrame, windowFrame = 0, 1, 3, 4, 7, 8
)

// The codes of errors of HTTP/2.
const protocolError, refusedStream = 1, 7

// A reluctant server of HTTP/2 refuses the first request, once it has the body, and answers others.
type reluctant struct {
	refuse func(conn net.Conn, stream uint32)
	always bool

	mu     sync.Mutex
	bodies []string
}

func writeFrame(conn net.Conn, kind, flags byte, stream uint32, payload ...byte) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	frame = binary.BigEndian.AppendUint32(append(frame, flags), stream)
	_, _ = conn.Write(append(frame, payload...))
}

func (s *reluctant) serve(conn net.Conn) {
	_, _ = io.CopyN(io.Discard, conn, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	writeFrame(conn, settingsFrame, 0, 0, 0, 4, 0, 16, 0, 0) // a window of 1 MiB for each request
	writeFrame(conn, windowFrame, 0, 0, 0, 16, 0, 0)
	var body bytes.Buffer
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[:])>>8)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		kind, ends, stream := head[3], head[4]&1 != 0, binary.BigEndian.Uint32(head[5:])
		switch kind {
		case settingsFrame:
			if !ends {
				writeFrame(conn, settingsFrame, 1, 0)
			}
		case dataFrame, headersFrame:
			if kind == dataFrame {
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
		s.refuse(conn, stream)
		return
	}
	const endStream, endHeaders, status200 = 1, 4, 0x88
	writeFrame(conn, headersFrame, endStream|endHeaders, stream, status200)
}

// Of a request with an error of the protocol, the server may have begun its work.
func TestRequestsOfHTTP2ThatMayHaveBegunAreNotSentAgain(t *testing.T) {
	s := &reluctant{refuse: func(conn net.Conn, stream uint32) { writeFrame(conn, resetFrame, 0, stream, 0, 0, 0, protocolError) }}
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
	s := &reluctant{always: true, refuse: func(conn net.Conn, stream uint32) { writeFrame(conn, resetFrame, 0, stream, 0, 0, 0, protocolError) }}
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
	for how, refuse := range map[string]func(net.Conn, uint32){
		"GOAWAY": func(conn net.Conn, _ uint32) { writeFrame(conn, goAwayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
		"REFUSED_STREAM": func(conn net.Conn, stream uint32) {
			writeFrame(conn, resetFrame, 0, stream, 0, 0, 0, refusedStream)
		},
	} {
		for kind, size := range map[string]int{"text/plain": 100, "text/html": 200_000, "application/grpc": 100} {
			t.Run(fmt.Sprint(how, " ", kind), func(t *testing.T) {
				s := &reluctant{refuse: refuse}
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
