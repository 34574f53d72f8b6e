package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/tcptest"
)

// A recorder is an upstream that keeps its requests, both parsed and as raw bytes.
type recorder struct {
	address string

	mu       sync.Mutex
	sent     bytes.Buffer
	requests []string
}

func record(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	r.address = "http://" + tcptest.Serve(t, r.serve)
	return r
}

func (r *recorder) serve(conn net.Conn) {
	in := bufio.NewReader(io.TeeReader(conn, r))
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		line := fmt.Sprint(request.Method, " ", request.RequestURI, " ", string(body))
		if err != nil {
			line += err.Error()
		}
		r.mu.Lock()
		r.requests = append(r.requests, strings.TrimSpace(line))
		r.mu.Unlock()
		if err != nil {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// Write keeps the bytes of a connection.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Write(p)
}

// take returns the requests since the last call, in one line, and their bytes.
func (r *recorder) take() (requests, sent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, sent = strings.Join(r.requests, ", "), r.sent.String()
	r.requests = nil
	r.sent.Reset()
	return requests, sent
}
