package tcptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// The ports of FreeAddress lie below the ports that Linux gives to a connection or to port 0,
// so that nothing takes one between the call and the server that listens there.
const firstPort, lastPort = 10_000, 32_767

var given sync.Map // by port

// FreeAddress returns an address of this machine that has no listener. No call of one process
// returns an address twice.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		address := fmt.Sprint("127.0.0.1:", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}
