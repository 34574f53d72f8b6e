package listen

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/longtest"
)

// The test compares with a plain server of net/http. Both ends of each connection are in this
// process, so 9,000 connections need 18,000 files.
func TestMemoryOfIdleConnections(t *testing.T) {
	n := 1000
	if longtest.All() {
		n = 9000
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(hello)}
	go func() { _ = server.Serve(plain) }()
	without := held(t, n, plain.Addr().String())
	server.Close()

	l, err := New(settings(func(c *config.Listener) { c.MaxConnectionsPerAddress = n + 1 }), http.HandlerFunc(hello), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = l.Serve() }()
	with := held(t, n, l.Addr().String())
	l.Close()
	t.Logf("%d idle connections take %d KB with net/http alone and %d KB here: %.3f", n, without>>10, with>>10, float64(with)/float64(without))
	if float64(with) > 1.1*float64(without) {
		t.Error("more than 1.1 of net/http's")
	}
}

// held returns the memory that n connections hold at both ends after one answer each.
func held(t *testing.T, n int, address string) uint64 {
	t.Helper()
	before := inUse()
	conns := make([]net.Conn, n)
	reply := make([]byte, 256)
	for i := range conns {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
		_, _ = io.WriteString(conn, get)
		if _, err := conn.Read(reply); err != nil {
			t.Fatal(err)
		}
	}
	after := inUse()
	for _, conn := range conns {
		conn.Close()
	}
	runtime.KeepAlive(reply)
	return after - before
}

// inUse is the memory in use: heap and stacks.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the first call only empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
