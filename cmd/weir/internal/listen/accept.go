package listen

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/weir-go/weir/internal/quota"
	"github.com/weir-go/weir/trust"
)

// Counts are the numbers of connections since the start.
type Counts struct {
	Open     int    `json:"open"`     // connections that are open now
	Accepted uint64 `json:"accepted"` // connections opened by clients, including refused connections

	OverTotal   uint64 `json:"over_total"`   // closed at once: MaxConnections was reached
	OverAddress uint64 `json:"over_address"` // closed at once: MaxConnectionsPerAddress was reached
	BadHeader   uint64 `json:"bad_header"`   // closed at once: no PROXY header, or a peer that may not send one
	Displaced   uint64 `json:"displaced"`    // closed without a request to make room for another, because MaxConnections was reached

	Handshakes uint64 `json:"handshakes"` // TLS handshakes that failed
	Resets     uint64 `json:"resets"`     // HTTP/2 requests that clients reset
	Stalled    uint64 `json:"stalled"`    // connections and streams whose clients stopped reading
	Slow       uint64 `json:"slow"`       // connections and streams whose clients sent a body below BodyRate, or stalled
}

// Counts returns the counts since the start, and the number of connections that are open now.
func (l *Listener) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	counts.Open = len(l.conns)
	return counts
}

func (l *Listener) tally(n *uint64) {
	l.mu.Lock()
	*n++
	l.mu.Unlock()
}

// accepting is the listener that net/http accepts from.
type accepting struct{ *Listener }

// Accept returns the next connection within the caps.
func (l accepting) Accept() (net.Conn, error) {
	for {
		socket, err := l.socket.Accept()
		if err != nil {
			return nil, err
		}
		l.tally(&l.counts.Accepted)
		if c, ok := l.admit(socket); ok {
			return newCleartext(c, l.settings), nil
		}
		_ = socket.Close()
	}
}

// Close closes the socket but no connections. net/http calls Close again when the server ends.
func (l accepting) Close() (err error) {
	l.closing.Do(func() { err = l.socket.Close() })
	return err
}

// admit counts the connection against the caps. It reports false if a cap is reached, or if the
// peer may not use the PROXY protocol.
func (l *Listener) admit(socket net.Conn) (*conn, bool) {
	c := &conn{Conn: socket, listener: l}
	peer := addressOf(socket.RemoteAddr())
	live := l.live.Load()
	if len(live.ProxyProtocol) > 0 {
		if !live.balancers(trust.Peer{Addr: peer}) {
			l.refuse(&l.counts.BadHeader, peer, "its address is not in proxy_protocol")
			return nil, false
		}
		c.header = &header{timeout: time.Duration(live.HeaderTimeout)}
	}
	// This cap comes first, because the other cap may close a connection of another client.
	if c.header == nil && l.count(c, peer) != nil {
		return nil, false
	}
	if !l.add(c, live.MaxConnections) {
		l.refuse(&l.counts.OverTotal, peer, "all of max_connections are in use")
		l.forget(c)
		return nil, false
	}
	return c, true
}

// add counts the connection against the total cap. At the cap it closes the connection that has
// waited longest for a request, even for its first request. The client of that connection loses no
// request, and can open another connection. So clients that never finish a request do not keep
// other clients out.
func (l *Listener) add(c *conn, most int) bool {
	l.mu.Lock()
	var displaced *conn
	if most > 0 && len(l.conns) >= most {
		oldest := l.idle.Front()
		if oldest == nil {
			l.mu.Unlock()
			return false
		}
		displaced = l.idle.Remove(oldest).(*conn)
		displaced.idle = nil
		delete(l.conns, displaced)
		l.counts.Displaced++
	}
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	if displaced != nil {
		_ = displaced.Close()
	}
	return true
}

var errOverAddress = errors.New("listen: the client's address has all the connections that it may have")

// count counts the connection for its client's address, and returns an error at the cap of the
// address.
func (l *Listener) count(c *conn, address netip.Addr) error {
	live := l.live.Load()
	if !address.IsValid() || live.trusted(trust.Peer{Addr: address}) {
		return nil
	}
	address = quota.AddressOf(address)
	l.mu.Lock()
	over := live.MaxConnectionsPerAddress > 0 && l.addresses[address] >= live.MaxConnectionsPerAddress
	if !over {
		c.address = address
		l.addresses[address]++
	}
	l.mu.Unlock()
	if over {
		l.refuse(&l.counts.OverAddress, address, "its address has max_connections_per_address")
		return errOverAddress
	}
	return nil
}

// refuse counts a connection that is closed at once, and logs the reason.
func (l *Listener) refuse(count *uint64, client netip.Addr, why string) {
	l.tally(count)
	l.log.Warn("connection refused", "listener", l.socket.Addr().String(), "client", client.String(), "reason", why)
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	if c.address.IsValid() {
		if l.addresses[c.address]--; l.addresses[c.address] == 0 {
			delete(l.addresses, c.address)
		}
		c.address = netip.Addr{}
	}
	l.setIdle(c, false)
}

// setIdle records whether the connection waits for a request. The lock is held.
func (l *Listener) setIdle(c *conn, idle bool) {
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	if _, open := l.conns[c]; idle && open {
		c.idle = l.idle.PushBack(c)
	}
}

// changed receives the connection states from net/http.
func (l *Listener) changed(of net.Conn, state http.ConnState) {
	c := unwrap(of)
	if c == nil {
		return
	}
	switch state {
	case http.StateNew, http.StateIdle, http.StateActive:
		l.mu.Lock()
		l.setIdle(c, state != http.StateActive)
		l.mu.Unlock()
	case http.StateHijacked:
		c.hijacked.Store(true)
	}
}

// addressOf returns the address without its port; it is zero for a Unix socket.
func addressOf(of net.Addr) netip.Addr { return trust.FromAddr(of, nil).Addr.Unmap().WithZone("") }
