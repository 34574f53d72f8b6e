package listen

import (
	"net/http"
	"strings"
)

// dropTrailers drops names that a transport refuses to send after a body: the refusal would
// count as a failure of the upstream, and open a breaker. A Host trailer has no meaning.
// Names with underscores pass as they do in the header.
func dropTrailers(from http.Header, underscores bool) {
	for name := range from {
		switch name {
		case "Content-Length", "Host", "Trailer", "Transfer-Encoding":
			delete(from, name)
		default:
			if name == "" || strings.ContainsFunc(name, noToken) || !underscores && strings.Contains(name, "_") {
				delete(from, name)
			}
		}
	}
}
