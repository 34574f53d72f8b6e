package natsfleet_test

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/tcptest"
)

// A gate passes connections on to a port. While it is shut, nothing arrives in either direction and
// nothing is lost, as in a network that is cut.
type gate struct {
	address string

	mu   sync.Mutex
	off  bool
	open *sync.Cond
}

func newGate(t *testing.T, port int) *gate {
	t.Helper()
	g := &gate{}
	g.open = sync.NewCond(&g.mu)
	g.address = tcptest.Serve(t, func(from net.Conn) { g.connect(from, net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) })
	t.Cleanup(func() { g.shut(false) })
	return g
}

func (g *gate) shut(off bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.off = off
	g.open.Broadcast()
}

// pass waits until the gate is open.
func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.off {
		g.open.Wait()
	}
}

func (g *gate) connect(from net.Conn, address string) {
	g.pass()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { defer from.Close(); defer to.Close(); g.copy(from, to) }()
	g.copy(to, from)
}

func (g *gate) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		g.pass()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
