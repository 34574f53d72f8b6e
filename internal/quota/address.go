package quota

import "net/netip"

// AddressOf returns the address under which a client counts. For IPv6 it is the /64 network,
// because one client may have all addresses of that network. It is zero for a client without an
// address.
func AddressOf(client netip.Addr) netip.Addr {
	client = client.Unmap()
	if client.Is6() {
		network, _ := client.Prefix(64)
		return network.Addr()
	}
	return client
}
