package proxy

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// A client that violates HTTP/2 makes net/http log each of its connections.
func TestClientsCannotFloodTheLog(t *testing.T) {
	r := start(t, file("http://127.0.0.1:1", ""))
	const connections = 200
	for range connections {
		conn := must.Have(net.Dial("tcp", r.address))(t)
		const windowUpdateOfZero = "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		_, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+windowUpdateOfZero)
		awaitGoAway(t, conn)
		conn.Close()
	}
	r.stop()
	must.Do(t, <-r.ended)
	lines := strings.Count(r.said.String(), "connection error")
	if lines == 0 || lines > connections/2 {
		t.Errorf("%d lines about %d connections\n%s", lines, connections, r.said)
	}
	if !strings.Contains(r.said.String(), "stopping") {
		t.Error("the log does not say that the proxy stops")
	}
}

// awaitGoAway reads the frame that the server sends after its log line.
func awaitGoAway(t *testing.T, conn net.Conn) {
	t.Helper()
	var read []byte
	for !bytes.Contains(read, []byte("\x07\x00\x00\x00\x00\x00")) {
		more := make([]byte, 1024)
		n, err := conn.Read(more)
		if err != nil {
			t.Fatalf("no GOAWAY: %v", err)
		}
		read = append(read, more[:n]...)
	}
}

// Requests have only keys that routes name, so figures exclude the compartment of unknown
// keys.
func TestUnknownKeysAreInNoFigure(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, "compartments: {api: {min: 2, initial: 7, max: 30}}"))
	if limit := r.Snapshot().Total.Limit; limit != 7 {
		t.Errorf("a limit of %d, want 7", limit)
	}
	text := r.metrics()
	if strings.Contains(text, "overflow") {
		t.Error("/metrics has series of unknown keys")
	}
	for _, want := range []string{
		`weir_limit{limiter="compartments"} 7`, `weir_limit_min{limiter="compartments"} 2`, `weir_limit_max{limiter="compartments"} 30`,
		`weir_limit{limiter="streams"} 1000`, `weir_key_limit{key="api",limiter="compartments"} 7`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("/metrics does not say %s", want)
		}
	}
}
