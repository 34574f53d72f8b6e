package client

import (
	"net/netip"
	"strings"
)

// lastElement splits off the last element of a Forwarded header. It reads from the right end,
// whose text comes from a trusted hop: there quotes are balanced, whatever a stranger left
// open further left.
func lastElement(list string) (before, element string, more bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"' && !escaped(list, i):
			quoted = !quoted
		case list[i] == ',' && !quoted:
			return list[:i], strings.Trim(list[i+1:], " \t"), true
		}
	}
	return "", strings.Trim(list, " \t"), false
}

// escaped reports whether an odd number of backslashes precedes the byte.
func escaped(text string, at int) bool {
	slashes := 0
	for at > slashes && text[at-1-slashes] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// forOf reads the address in the "for" of an element such as for="[2001:db8::1]:80";proto=https.
func forOf(element string) (addr netip.Addr, ok bool) {
	found := false
	for element != "" {
		var pair string
		pair, element = cutPair(element)
		name, value, is := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !is {
			return netip.Addr{}, false
		}
		if !strings.EqualFold(name, "for") {
			continue
		}
		if found {
			return netip.Addr{}, false // ambiguous
		}
		found = true
		addr, ok = parseNode(unquote(value))
	}
	return addr, ok
}

// cutPair splits an element after its first pair.
func cutPair(element string) (pair, rest string) {
	quoted := false
	for i := range len(element) {
		switch {
		case element[i] == '"' && !escaped(element, i):
			quoted = !quoted
		case element[i] == ';' && !quoted:
			return element[:i], element[i+1:]
		}
	}
	return element, ""
}

// unquote removes the quotes. Addresses need no escapes, so a value with escapes is no
// address.
func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// elementOf returns the element that this hop adds to Forwarded: its peer, and the requested
// protocol and host.
func elementOf(peer netip.Addr, proto, host string) string {
	var b strings.Builder
	b.WriteString("for=")
	switch {
	case !peer.IsValid():
		b.WriteString("unknown")
	case peer.Is4():
		b.WriteString(peer.String())
	default:
		b.WriteString(`"[` + peer.String() + `]"`)
	}
	b.WriteString(";host=")
	quote(&b, host)
	b.WriteString(";proto=" + proto)
	return b.String()
}

// quote writes a quoted-string of RFC 9110.
func quote(b *strings.Builder, text string) {
	b.WriteByte('"')
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	b.WriteByte('"')
}
