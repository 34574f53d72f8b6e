package tcptest

import (
	"net"
	"testing"
)

// Serve calls handle for each connection, on a goroutine of its own, and closes the connection
// after that. It returns the address, and listens until the test ends.
func Serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return l.Addr().String()
}
