package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Host reports whether a request is for this machine: for a loopback address, localhost, the local
// address of its connection, or one of the names, in any case. It reports false for an attacker's
// name that resolves to this machine.
func Host(r *http.Request, names []string) bool {
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if slices.ContainsFunc(append([]string{"localhost"}, names...), func(known string) bool { return strings.EqualFold(known, name) }) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err == nil && (addr.IsLoopback() || local != nil && addr.Unmap() == local.AddrPort().Addr().Unmap())
}

// Bearer reports whether a request has the token, as "Authorization: Bearer TOKEN".
func Bearer(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && Same(strings.TrimSpace(given), token)
}

// Same reports whether the given secret is the right one. It takes the same time for each wrong
// secret.
func Same(given, secret string) bool {
	got, wanted := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(got[:], wanted[:]) == 1
}
