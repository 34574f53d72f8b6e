package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

type networks []netip.Prefix

// parseNetworks reads networks such as 10.0.0.0/8, and single addresses.
func parseNetworks(field string, from []string) (all networks, err error) {
	for i, text := range from {
		network, invalid := netip.ParsePrefix(text)
		if address, single := netip.ParseAddr(text); single == nil {
			network, invalid = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if invalid != nil {
			err = errors.Join(err, fmt.Errorf("listen: %s[%d] is %q: write a network such as 10.0.0.0/8, or an address", field, i, text))
		}
		all = append(all, network.Masked())
	}
	return all, err
}

func (n networks) contain(address netip.Addr) bool {
	for _, network := range n {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// addressOf returns the address without its port; it is zero for a Unix socket.
func addressOf(of net.Addr) netip.Addr {
	if tcp, ok := of.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
