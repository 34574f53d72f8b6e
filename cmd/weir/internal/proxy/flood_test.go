package proxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A client that violates HTTP/2 makes net/http log each of its connections.
func TestClientsCannotFloodTheLog(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte(addresses+file("http://127.0.0.1:1", "")), nil)
	if err != nil {
		t.Fatal(err)
	}
	said := new(lockedBuffer)
	p, err := New(c, Options{Log: slog.New(slog.NewTextHandler(said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	listeners, _ := p.Addresses()
	const connections = 200
	for range connections {
		conn, err := net.Dial("tcp", listeners[0].String())
		if err != nil {
			t.Fatal(err)
		}
		const windowUpdateOfZero = "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		_, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+windowUpdateOfZero)
		awaitGoAway(t, conn)
		conn.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(said.String(), "connection error")
	if lines == 0 || lines > connections/2 {
		t.Errorf("%d lines about %d connections\n%s", lines, connections, said)
	}
	if !strings.Contains(said.String(), "stopping") {
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

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
