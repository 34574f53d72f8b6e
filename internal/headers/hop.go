package headers

import (
	"net/http"
	"slices"
	"strings"
)

// hopByHop are the headers that belong to one connection (RFC 9110, 7.6.1), whether or not
// Connection names them. [httputil.ReverseProxy] has the same list.
var hopByHop = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// RemoveHopByHop removes the headers that belong to one connection, and the headers that Connection
// names.
func RemoveHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// HasToken reports whether the lines of a header list the token, in any case.
func HasToken(lines []string, token string) bool {
	for _, line := range lines {
		if slices.ContainsFunc(strings.Split(line, ","), func(s string) bool { return strings.EqualFold(strings.Trim(s, " \t"), token) }) {
			return true
		}
	}
	return false
}

// UpgradeTo returns the protocol to which a message wants to change its connection, or an empty
// string. It ignores offers of HTTP/2 and TLS, which some clients make with any request. A server
// may ignore them (RFC 9113, 3.1, and RFC 2817, 3.1).
func UpgradeTo(h http.Header) string {
	to := h.Get("Upgrade")
	name, _, _ := strings.Cut(to, "/")
	if to == "" || strings.EqualFold(name, "h2c") || strings.EqualFold(name, "TLS") || !HasToken(h["Connection"], "upgrade") {
		return ""
	}
	return to
}

// IsPrintable reports whether a text has only printable characters of ASCII.
func IsPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// IsGRPC reports whether a message is gRPC, in any encoding, or gRPC-Web.
func IsGRPC(header http.Header) bool {
	const media = "application/grpc"
	text := header.Get("Content-Type")
	return len(text) >= len(media) && strings.EqualFold(text[:len(media)], media)
}

// IsConversation reports whether the two sides of a request may take turns: a call of gRPC, or a
// stream of Connect, by HTTP/2. HTTP/1 has no turns, so there the content type is only a claim.
func IsConversation(r *http.Request) bool {
	const connect = "application/connect+"
	text := r.Header.Get("Content-Type")
	content := IsGRPC(r.Header) || len(text) >= len(connect) && strings.EqualFold(text[:len(connect)], connect)
	return content && r.ProtoMajor >= 2
}

// IsEvents reports whether a message is a stream of server-sent events, by the test of
// httputil.ReverseProxy.
func IsEvents(header http.Header) bool {
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// IsUpgrade reports whether a request asks for another protocol.
func IsUpgrade(header http.Header) bool { return UpgradeTo(header) != "" }
