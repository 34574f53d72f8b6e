package trust

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/weir-go/weir"
)

// A Peer is the other end of a connection.
type Peer struct {
	// Addr is the source address of the connection. It is the zero Addr if the source has no IP
	// address, as for a Unix socket.
	Addr netip.Addr
	// TLS is the state of the connection's TLS, nil without TLS. It is only read.
	TLS *tls.ConnectionState
}

// FromAddr returns the peer at an address, with the TLS state of its connection or nil. An address
// of another network than TCP leaves Addr zero. The address of a call by ServeHTTP of gRPC is the
// RemoteAddr of its request: see [FromRequest].
func FromAddr(addr net.Addr, state *tls.ConnectionState) Peer {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return Peer{Addr: tcp.AddrPort().Addr(), TLS: state}
	}
	if addr == nil || addr.Network() != "tcp" {
		return Peer{TLS: state}
	}
	from, _ := netip.ParseAddrPort(addr.String()) // zero if it is invalid
	return Peer{Addr: from.Addr(), TLS: state}
}

// FromRequest returns the peer that sent an HTTP request to a server, by its RemoteAddr and TLS.
// Middleware that writes the address of a header to RemoteAddr must come later.
func FromRequest(r *http.Request) Peer {
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // zero if it is invalid
	return Peer{Addr: from.Addr(), TLS: r.TLS}
}

// Peers reports whether a peer is trusted. It is called for each request, concurrently, and must be
// fast. A nil Peers trusts no peer.
type Peers func(Peer) bool

// Request reports whether the peer that sent a request is trusted. Give this method to
// weirhttp.Trust. A nil Peers trusts no request.
func (trusts Peers) Request(r *http.Request) bool { return trusts != nil && trusts(FromRequest(r)) }

// Networks returns Peers that trusts connections from the given networks, such as "10.0.0.0/8",
// "fd00::/8" or a single address, "192.0.2.7". An IPv4 address that a dual-stack listener reports
// as IPv6 counts as IPv4. Zones are ignored. The error matches [weir.ErrConfig].
func Networks(networks ...string) (Peers, error) {
	var all []netip.Prefix
	for _, text := range networks {
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("%w: trust: network %q: want a prefix such as 10.0.0.0/8, or an address: %w",
				weir.ErrConfig, text, err)
		}
		all = append(all, network)
	}
	return func(p Peer) bool {
		addr := p.Addr.Unmap().WithZone("")
		return slices.ContainsFunc(all, func(network netip.Prefix) bool { return network.Contains(addr) })
	}, nil
}

// parseNetwork reads a prefix or an address.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err == nil && network.Addr().Is4In6() {
		err = fmt.Errorf("IPv4 within IPv6: write it as IPv4")
	}
	return network, err
}

// Verified is a [Peers] that trusts mutual TLS: a peer with a certificate that the server verified,
// as it does under [tls.RequireAndVerifyClientCert] and [tls.VerifyClientCertIfGiven]. Under
// [tls.RequireAnyClientCert] it trusts no peer. It trusts every certificate that the server's
// ClientCAs signed; to trust only some certificates, write a Peers that calls Verified and then
// checks p.TLS.PeerCertificates[0].
func Verified(p Peer) bool { return p.TLS != nil && len(p.TLS.VerifiedChains) > 0 }

// Either returns Peers that trusts a peer if at least one of the given Peers trusts it.
func Either(peers ...Peers) Peers {
	return func(p Peer) bool {
		return slices.ContainsFunc(peers, func(trusts Peers) bool { return trusts != nil && trusts(p) })
	}
}
