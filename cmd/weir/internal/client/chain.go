package client

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/weir-go/weir/trust"
)

// maxHops bounds the elements read of a chain of trusted addresses. Real chains have a handful of
// elements.
const maxHops = 32

// origin returns the client's address according to a trusted peer and the trusted hops before
// it, and whether a header names it.
func origin(h http.Header, peer netip.Addr, peers trust.Peers) (client netip.Addr, said bool) {
	switch {
	case h[forwardedFor] != nil:
		return walk(h[forwardedFor], peer, peers), true
	case h[realIP] != nil:
		if addr, ok := parseNode(single(h[realIP])); ok {
			return addr, true
		}
		return peer, true
	}
	return peer, false
}

// walk walks a chain from its right end to the first element that is untrusted or no address.
func walk(lines []string, known netip.Addr, peers trust.Peers) netip.Addr {
	hops := 0
	for i := len(lines) - 1; i >= 0; i-- {
		for before, more := lines[i], true; more; hops++ {
			var element string
			before, element, more = lastListed(before)
			addr, ok := parseNode(element)
			if !ok || hops == maxHops {
				return known
			}
			known = addr
			if !peers(trust.Peer{Addr: addr}) {
				return known
			}
		}
	}
	return known
}

// lastListed splits a list at its last comma.
func lastListed(list string) (before, element string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	return list[:max(comma, 0)], strings.Trim(list[comma+1:], " \t"), comma >= 0
}

// maxNode is the longest node with an address: [IPv6]:port, with a zone of 16 bytes.
const maxNode = 72

// parseNode reads an address with or without a port, in any of the forms that proxies write:
// 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1], [2001:db8::1]:80.
func parseNode(text string) (addr netip.Addr, ok bool) {
	if len(text) == 0 || len(text) > maxNode {
		return addr, false
	}
	if text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		addr = withPort.Addr()
	}
	return plain(addr), err == nil
}
