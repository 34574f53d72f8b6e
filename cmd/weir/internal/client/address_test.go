package client

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for what, c := range map[string]struct {
		remote string
		header []string
		want   string
	}{
		"stranger":                 {"192.0.2.1:9", []string{"X-Forwarded-For", "198.51.100.7", "X-Real-IP", "198.51.100.7", "Forwarded", "for=198.51.100.7"}, "192.0.2.1"},
		"trusted, silent":          {"10.0.0.1:9", nil, "10.0.0.1"},
		"one hop":                  {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"spoofed":                  {"10.0.0.1:9", []string{"X-Forwarded-For", "203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		"trusted name on the left": {"10.0.0.1:9", []string{"X-Forwarded-For", "10.9.9.9, 198.51.100.7"}, "198.51.100.7"},
		"three hops":               {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, 10.0.0.3,10.0.0.2"}, "198.51.100.7"},
		"all trusted":              {"10.0.0.1:9", []string{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"several lines":            {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7", "X-Forwarded-For", "10.0.0.2"}, "198.51.100.7"},
		"spoofed line":             {"10.0.0.1:9", []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"port":                     {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7:4711"}, "198.51.100.7"},
		"IPv6":                     {"10.0.0.1:9", []string{"X-Forwarded-For", "2001:db8::7"}, "2001:db8::7"},
		"IPv6, brackets":           {"10.0.0.1:9", []string{"X-Forwarded-For", "[2001:db8::7]"}, "2001:db8::7"},
		"IPv6, port":               {"10.0.0.1:9", []string{"X-Forwarded-For", "[2001:db8::7]:4711"}, "2001:db8::7"},
		"IPv6, zone":               {"10.0.0.1:9", []string{"X-Forwarded-For", "fe80::7%eth0"}, "fe80::7"},
		"IPv4 in IPv6":             {"[::ffff:10.0.0.1]:9", []string{"X-Forwarded-For", "::ffff:198.51.100.7"}, "198.51.100.7"},
		"IPv6 peer":                {"[fd00::1]:9", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"unknown":                  {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, unknown"}, "10.0.0.1"},
		"unknown behind a hop":     {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		"garbage":                  {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, <script>"}, "10.0.0.1"},
		"empty element":            {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7, "}, "10.0.0.1"},
		"empty line":               {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7", "X-Forwarded-For", ""}, "10.0.0.1"},
		"nothing before a comma":   {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7", "X-Forwarded-For", ",10.0.0.2"}, "10.0.0.2"},
		"too many hops":            {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7" + strings.Repeat(", 10.0.0.2", maxHops)}, "10.0.0.2"},
		"many hops":                {"10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7" + strings.Repeat(", 10.0.0.2", maxHops-1)}, "198.51.100.7"},
		"long on the left":         {"10.0.0.1:9", []string{"X-Forwarded-For", strings.Repeat("203.0.113.9, ", 900) + "198.51.100.7"}, "198.51.100.7"},
		"real IP":                  {"10.0.0.1:9", []string{"X-Real-IP", "198.51.100.7"}, "198.51.100.7"},
		"real IP, two":             {"10.0.0.1:9", []string{"X-Real-IP", "198.51.100.7", "X-Real-IP", "198.51.100.8"}, "10.0.0.1"},
		"the chain beats it":       {"10.0.0.1:9", []string{"X-Real-IP", "203.0.113.9", "X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"Forwarded is not read":    {"10.0.0.1:9", []string{"Forwarded", "for=203.0.113.9", "X-Real-IP", "198.51.100.7"}, "198.51.100.7"},
		"Unix socket":              {"@", []string{"X-Forwarded-For", "198.51.100.7"}, ""},
	} {
		id := Identify(from(c.remote, c.header...), inside(t), nil)
		want, _ := netip.ParseAddr(c.want)
		if id.Address != want {
			t.Errorf("%s: %v, want %v", what, id.Address, want)
		}
	}
}

// A stranger controls the elements left of a trusted proxy's element. Whatever they are, the
// client's address is the one that the proxy added.
func FuzzForwarded(f *testing.F) {
	f.Add("198.51.100.7", "shop.example", false)
	f.Add(`for="x`, `,for=203.0.113.9;x="`, true)
	f.Add(`for="z\`, `\",for=203.0.113.9`, false)
	f.Add(strings.Repeat("10.0.0.2, ", 1000), "", true)
	f.Add("", `"`, false)
	f.Fuzz(func(t *testing.T, left, other string, line bool) {
		stranger := netip.MustParseAddr("2001:db8::7")
		peers := inside(t)
		for _, hops := range [][]netip.Addr{{stranger}, {stranger, netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::2")}} {
			var list []string
			for _, hop := range hops {
				list = append(list, hop.String())
			}
			for _, lines := range [][]string{{left + ", " + strings.Join(list, ", ")}, append([]string{left}, list...)} {
				r := from("10.0.0.1:9")
				r.Header["X-Forwarded-For"] = lines
				if line {
					r.Header["X-Real-Ip"] = []string{left}
				}
				if id := Identify(r, peers, nil); id.Address != stranger {
					t.Errorf("%q: %v, want %v", lines, id.Address, stranger)
				}
			}
		}
		anything(t, left, other)
	})
}

// anything checks an invariant of every chain: an address other than the peer's is an element
// of it, and all elements to its right are trusted.
func anything(t *testing.T, lines ...string) {
	t.Helper()
	peers := inside(t)
	r := from("10.0.0.1:9")
	r.Header["X-Forwarded-For"] = lines
	id := Identify(r, peers, nil)
	if id.Address == id.Peer {
		return
	}
	elements := strings.Split(strings.Join(lines, ","), ",")
	for _, element := range slices.Backward(elements) {
		addr, ok := parseNode(strings.Trim(element, " \t"))
		if addr == id.Address {
			return
		}
		if !ok || !peers.Request(from(netip.AddrPortFrom(addr, 9).String())) {
			t.Errorf("%q: %v stands left of %q", lines, id.Address, element)
			return
		}
	}
	t.Errorf("%q: %v is not in it", lines, id.Address)
}
