package quota

import "net/netip"

// AddressOf returns the address that a client counts for: for IPv6 the /64 network, because one
// client may have all its addresses. It is zero for a client without one.
func AddressOf(client netip.Addr) netip.Addr {
	client = client.Unmap()
	if client.Is6() {
		network, _ := client.Prefix(64)
		return network.Addr()
	}
	return client
}
