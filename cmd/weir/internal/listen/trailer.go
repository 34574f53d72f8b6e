package listen

import (
	"net/http"
	"strings"
)

// dropTrailers drops trailers that a transport refuses to send, or that a server refuses to read
// after a body. The refusal would count as a failure of the upstream, and open a breaker (RFC 9110,
// 6.5.1). Names with underscores pass as they do in the header.
func dropTrailers(from http.Header, underscores bool) {
	for name := range from {
		switch name {
		case "Authorization", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Range",
			"Content-Type", "Expect", "Host", "Keep-Alive", "Max-Forwards", "Pragma", "Proxy-Authenticate",
			"Proxy-Authorization", "Proxy-Connection", "Range", "Realm", "Te", "Trailer", "Transfer-Encoding",
			"Upgrade", "Www-Authenticate":
			delete(from, name)
		default:
			if name == "" || strings.HasPrefix(name, "If-") || strings.ContainsFunc(name, noToken) || !underscores && strings.Contains(name, "_") {
				delete(from, name)
			}
		}
	}
}
