package relay

import (
	"net/netip"
	"sync"
	"testing"
)

// A crowd that is refused does not use up the rate of the connections that come after it.
func TestRefusedConnectionsTakeNoRate(t *testing.T) {
	a := newAdmission(Config{Connections: 100, ConnectionsPerAddress: 100, ConnectionRate: 1})
	var crowd sync.WaitGroup
	for range 8 {
		crowd.Go(func() {
			for range 10_000 {
				a.enter(netip.Addr{})
			}
		})
	}
	crowd.Wait()
	if left := a.rate.Tokens(); left < 0 {
		t.Errorf("%v more were counted than may enter", -left)
	}
}
